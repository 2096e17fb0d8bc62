"""Prediction of failing cooperation, and the channels that mend it."""
