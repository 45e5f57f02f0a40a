/// A name that lies in the program: what an output copies as it is.
@safe
struct Name {
    private let start: UnsafePointer<UInt8>
    private let count: Int

    /// A part of a constant text; empty where the text has no such part.
    @inline(__always)
    init(in text: StaticString, at place: Int, count: Int) {
        let isWithin = place >= 0 && count >= 0 && place + count <= text.utf8CodeUnitCount
        // In bounds: checked on the line above; a StaticString of more than one character lies in memory for ever.
        unsafe start = text.utf8Start + (isWithin ? place : 0)
        self.count = isWithin ? count : 0
    }

    var utf8: UnsafeBufferPointer<UInt8> { unsafe UnsafeBufferPointer(start: start, count: count) }
    var isEmpty: Bool { count == 0 }
}
