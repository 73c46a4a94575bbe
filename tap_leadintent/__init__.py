"""Singer tap for the buying-intent leads and monitored accounts API."""
