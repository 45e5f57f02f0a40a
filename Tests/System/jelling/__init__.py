"""What the tests of the built programs share: programs, controllers, peers."""
