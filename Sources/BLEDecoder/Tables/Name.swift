/// A name in constant memory, which outputs copy unchanged.
@safe
struct Name {
    private let start: UnsafePointer<UInt8>
    private let count: Int

    /// A part of a constant text; empty if it is out of range.
    @inline(__always)
    init(in text: StaticString, at place: Int, count: Int) {
        let isWithin = place >= 0 && count >= 0 && place + count <= text.utf8CodeUnitCount
        // In bounds: checked on the line above; a StaticString of more than one character is in constant memory.
        unsafe start = text.utf8Start + (isWithin ? place : 0)
        self.count = isWithin ? count : 0
    }

    var utf8: UnsafeBufferPointer<UInt8> { unsafe UnsafeBufferPointer(start: start, count: count) }
    var isEmpty: Bool { count == 0 }

    func isText(_ text: StaticString) -> Bool {
        // Constant memory, as above.
        count == text.utf8CodeUnitCount
            && (unsafe utf8.elementsEqual(
                UnsafeBufferPointer(start: text.utf8Start, count: count)))
    }
}
