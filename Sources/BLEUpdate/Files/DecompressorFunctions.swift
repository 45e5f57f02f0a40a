// The functions of CZlib, declared by name: importing that module would make everyone who sees a module above this one ask
// for its module map.
//
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// Begins a stream. `nil` without zlib or memory.
@_extern(c) func czlib_stream_open(_ window: Int32) -> UnsafeMutableRawPointer?
@_extern(c) func czlib_stream_close(_ stream: UnsafeMutableRawPointer?)
@_extern(c) func czlib_stream_read(
    _ stream: UnsafeMutableRawPointer, _ input: UnsafePointer<UInt8>?, _ inputLength: Int,
    _ taken: UnsafeMutablePointer<Int>, _ output: UnsafeMutablePointer<UInt8>?, _ capacity: Int,
    _ given: UnsafeMutablePointer<Int>
) -> Int32
