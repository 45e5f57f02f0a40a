import BLERecording
import Glibc

/// How fast the recordings in Fixtures/ are run again: simulated seconds in a second.
enum ReplaySpeed {
    static let name = "replay of Fixtures/, simulated time in real time"

    static func row(of folder: String) -> Row {
        let names = recordings(in: folder)
        var simulated: Int64 = 0
        var packets: UInt64 = 0
        var start = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
        for name in names {
            do throws(RecordingError) {
                let outcome = try Replayer.replay(RecordingFiles(folder + "/" + name))
                simulated += outcome.duration.rawValue
                packets += outcome.packetCount
            } catch {
                return Row(name: Self.name, value: 0, unit: "s/s", budget: .atLeast(1), remark: "\(error)")
            }
        }
        var end = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
        let spent = Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) / 1e9
        let rate = spent > 0 ? Double(simulated) / 1e6 / spent : 0
        return Row(
            name: Self.name, value: rate, unit: "s/s",
            remark: "\(names.count) recordings, \(Int(Double(packets) / max(spent, 1e-9))) packets/s")
    }

    private static func recordings(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { octets in
                String(decoding: octets.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".inputs.jsonl") { names.append(name) }
        }
        return names.sorted()
    }
}
