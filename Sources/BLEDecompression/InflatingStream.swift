// The decompressor of CZlib, declared by name: importing that module would make everyone who sees a module above this one
// ask for its module map.
// swift-format-ignore: AlwaysUseLowerCamelCase
@_extern(c) private func czlib_stream_open(_ window: Int32) -> UnsafeMutableRawPointer?
// swift-format-ignore: AlwaysUseLowerCamelCase
@_extern(c) private func czlib_stream_close(_ stream: UnsafeMutableRawPointer?)
// swift-format-ignore: AlwaysUseLowerCamelCase
@_extern(c) private func czlib_stream_read(
    _ stream: UnsafeMutableRawPointer, _ input: UnsafePointer<UInt8>?, _ inputLength: Int,
    _ taken: UnsafeMutablePointer<Int>, _ output: UnsafeMutablePointer<UInt8>?, _ capacity: Int,
    _ given: UnsafeMutablePointer<Int>
) -> Int32

/// Why octets are not decompressed.
package enum InflatingError: Error, Hashable, Sendable {
    /// zlib is not installed, or there is no memory for it.
    case noDecompressor
    /// The octets are no such stream.
    case damaged
}

/// A compressed stream that is read piece by piece; zlib keeps 32 kB of it.
@safe
package struct InflatingStream: ~Copyable {
    package enum Form: Int32 {
        case gzip = 31
        case zlib = 15
        case raw = -15
    }

    private let stream: UnsafeMutableRawPointer
    /// Whether its end has been read.
    package private(set) var isOver = false

    /// - Throws: `InflatingError.noDecompressor`.
    package init(_ form: Form) throws(InflatingError) {
        guard let opened = unsafe czlib_stream_open(form.rawValue) else { throw .noDecompressor }
        unsafe stream = opened
    }

    deinit { unsafe czlib_stream_close(stream) }

    /// Fills the front of `output` from `input`.
    /// - Returns: how many octets of each were used.
    /// - Throws: `InflatingError.damaged`.
    package mutating func read(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(InflatingError) -> (taken: Int, given: Int) {
        var (taken, given) = (0, 0)
        let result = unsafe czlib_stream_read(
            stream, input.baseAddress?.assumingMemoryBound(to: UInt8.self), input.count, &taken,
            output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count, &given)
        switch result {
        case 0: break
        case 1: isOver = true
        default: throw .damaged
        }
        return (taken, given)
    }
}
