"""Lets tests ask for `leadintent_sandbox` and `leadintent_config`."""

pytest_plugins = ["tap_leadintent.sandbox.fixtures"]
