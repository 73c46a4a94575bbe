"""Tests of the tap with what it is used with, as real processes."""
