"""Makes the fixtures `leadintent_sandbox` and `leadintent_config` available."""

pytest_plugins = ["tap_leadintent.sandbox.fixtures"]
