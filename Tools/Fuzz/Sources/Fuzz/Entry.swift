import FuzzBodies
import Glibc

/// The target that `JELLING_FUZZ_TARGET` names.
private let target: FuzzTarget = {
    guard let name = getenv("JELLING_FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name)) else {
        fatalError("JELLING_FUZZ_TARGET names no target")
    }
    return target
}()

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    if let violation = target.run(Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(violation) }
    return 0
}
