import CAllocationCounter

/// What this process has allocated and not given back.
enum Heap {
    static var kilobytes: Double { Double(allocation_counter_octets()) / 1024 }
}
