"""What the options of pytest say to all tests (conftest.py)."""
# How often programs are killed at random moments; 0: as often as fits into the time.
KILLS = 0
# Of the tests with chance in them.
SEED = 1
# How many messages the test sends that mutates them; 0: as many as it does by default.
MESSAGES = 0
