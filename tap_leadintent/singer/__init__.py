"""The SDK's side: messages, STATE, the writer."""
