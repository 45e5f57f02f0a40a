// The name is that of a function in C.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if JELLING_TESTS
import BLEHost
import BLEMessages
import CJelling

/// For tests, not in the library that is installed: an input of a recording, as the octets of a `HostInput`. Where there
/// is no engine yet, the octets are those of a `RecordingHeader`, and one is made with its configuration.
@c public func jelling_apply(
    _ engine: UnsafeMutablePointer<OpaquePointer?>?, _ octets: UnsafePointer<UInt8>?, _ length: Int, _ now: Int64
) -> jelling_status {
    guard let place = unsafe engine, let octets = unsafe JellingC.octets(octets, length, limit: .max) else {
        return JELLING_ERROR_ARGUMENT
    }
    do throws(MessageError) {
        if unsafe place.pointee == nil {
            let header = try RecordingHeader(octets: octets[...], isRecording: true)
            let reference = unsafe Unmanaged.passRetained(Engine(configuration: header.configuration))
            unsafe place.pointee = OpaquePointer(reference.toOpaque())
            return unsafe jelling_engines_add(reference.toOpaque())
        }
        let input = try HostInput(octets: octets[...], isRecording: true)
        return unsafe JellingC.input(place.pointee, now) { engine, now in
            engine.host.apply(input, at: now)
            return JELLING_OK
        }
    } catch {
        return JELLING_ERROR_ARGUMENT
    }
}
#endif
