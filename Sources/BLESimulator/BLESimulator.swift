// Virtual controllers on a virtual air, driven by a virtual clock.
