"""Singer tap for the buying-intent leads and monitored accounts API."""

from importlib.metadata import version

__version__ = version("tap-leadintent")
