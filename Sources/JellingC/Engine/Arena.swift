import CJelling

/// Memory for what is lent to a C caller: pieces at addresses that stay the same, given back all at once.
@safe struct Arena: ~Copyable {
    private static let alignment = 16
    private static let chunkSize = 2048

    private var chunks: [UnsafeMutableRawPointer] = unsafe []
    private var used = 0
    private var capacity = 0

    deinit {
        for index in unsafe chunks.indices { unsafe chunks[index].deallocate() }
    }

    /// Frees everything; one chunk of the usual size remains for the next use.
    mutating func reset() {
        while unsafe chunks.count > 1 { unsafe chunks.removeLast().deallocate() }
        if capacity != Self.chunkSize {
            while let chunk = unsafe chunks.popLast() { unsafe chunk.deallocate() }
            capacity = 0
        }
        used = 0
    }

    private mutating func room(for count: Int) -> UnsafeMutableRawPointer {
        let size = (count + Self.alignment - 1) & ~(Self.alignment - 1)
        if unsafe chunks.isEmpty || used + size > capacity {
            capacity = max(size, Self.chunkSize)
            unsafe chunks.append(.allocate(byteCount: capacity, alignment: Self.alignment))
            used = 0
        }
        let place = unsafe chunks[chunks.count - 1] + used
        used += size
        return unsafe place
    }

    /// A copy that lasts until `reset()`; the address is `nil` for no items.
    mutating func copy<Item: BitwiseCopyable, Source>(
        _ items: [Source], _ transform: (Source) -> Item
    ) -> (UnsafePointer<Item>?, count: Int) {
        guard !items.isEmpty else { return (nil, 0) }
        let place = unsafe room(for: items.count * MemoryLayout<Item>.stride).assumingMemoryBound(to: Item.self)
        for index in items.indices { unsafe (place + index).initialize(to: transform(items[index])) }
        return unsafe (UnsafePointer(place), items.count)
    }

    mutating func copy(_ octets: [UInt8]) -> jelling_bytes {
        guard !octets.isEmpty else { return unsafe jelling_bytes() }
        let place = unsafe room(for: octets.count)
        unsafe place.copyMemory(from: octets, byteCount: octets.count)
        return unsafe jelling_bytes(data: place.assumingMemoryBound(to: UInt8.self), length: octets.count)
    }

    /// Like `copy`, for items that need further memory.
    mutating func copyDeep<Item: BitwiseCopyable, Source>(
        _ items: [Source], _ transform: (Source, inout Arena) -> Item
    ) -> (UnsafePointer<Item>?, count: Int) {
        guard !items.isEmpty else { return (nil, 0) }
        let place = unsafe room(for: items.count * MemoryLayout<Item>.stride).assumingMemoryBound(to: Item.self)
        for index in items.indices { unsafe (place + index).initialize(to: transform(items[index], &self)) }
        return unsafe (UnsafePointer(place), items.count)
    }
}
