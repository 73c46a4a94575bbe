"""What tests share: fixtures' makings, servers, runs, models."""
