"""From the API's record to the target's."""
