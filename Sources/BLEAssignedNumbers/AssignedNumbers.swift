/// The names that the Bluetooth SIG gives to numbers.
public enum AssignedNumbers {}
