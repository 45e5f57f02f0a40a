import BLE
import BLEScripts

extension GATTRunner {
    /// Writes what the device offers as a profile for `serve`.
    ///
    /// A value that it refuses is left out, with a note: the profile is of use without it.
    /// - Throws: `Failure` when the file cannot be written, or an error of the library when the link ends.
    func clone(_ service: BluetoothUUID?, to path: String) async throws {
        let file = try CheckReportFile(path, permissions: 0o600)
        do {
            let contents = try await contents(of: service)
            var values: [AttributeHandle: [UInt8]] = [:]
            for handle in ClonedProfile(contents).readable {
                console.showProgress("reading \(Hexadecimal.number(handle.rawValue, digits: 4)) …")
                do { values[handle] = try await peripheral.read(handle) } catch BLEError.att(let error, _) {
                    console.note(
                        "the value of \(Hexadecimal.number(handle.rawValue, digits: 4)) is not in the profile: \(error)"
                    )
                }
            }
            console.showProgress("")
            try file.write(ClonedProfile(contents, values: values).text)
        } catch {
            console.showProgress("")
            file.release()
            throw error
        }
    }
}
