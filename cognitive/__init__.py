"""Agents that plan, talk and change their minds: the loop between worlds and planners."""
