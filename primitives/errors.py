"""The root of the tree of errors. A name lives in the lowest package that raises it."""


class CooplabError(Exception):
    """Base of every error cooplab raises on purpose."""


class LayoutError(CooplabError):
    """An array of the wrong shape or dtype; the message names what came and what is needed."""


class ConfigError(CooplabError):
    """A setting that is unknown or outside its values; the message gives both."""


class MissingPrerequisite(CooplabError):
    """An extra, a program or a display that is not here; the message says how to install it."""
