"""Tests of the tests: the generator draws what it says, the checker catches what it should."""
