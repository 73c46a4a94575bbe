"""One request and one cursor chain: address, key, body, envelope, retries, waiting."""
