import BLEHost
import BLEMessages

extension Replayer {
    /// A recording in lines for a replay by another program (Tools/CLibrary/replay.c): the configuration, each packet of
    /// the host, and each input with its time, as octets of their messages.
    /// - Throws: `RecordingError` when the recording cannot be read.
    public static func octets(of files: RecordingFiles, print: (String) -> Void) throws(RecordingError) {
        var reader = try RecordingReader(files)
        let name = files.name.split(separator: "/").last ?? ""
        print("recording \(name) \(try text(of: RecordingHeader(reader.configuration), in: files))")
        while let packet = try reader.nextSentPacket() { print("sent \(hexadecimal(packet))") }
        while let (input, time) = try reader.nextInput() {
            print("input \(time.microseconds) \(try text(of: input, in: files))")
        }
        print("end")
    }

    private static func text(of message: some Message, in files: RecordingFiles) throws(RecordingError) -> String {
        do throws(MessageError) { return hexadecimal(try message.encoded(isRecording: true)) } catch {
            throw .cannotRead(path: files.inputs, reason: "\(error)")
        }
    }

    private static func hexadecimal(_ octets: [UInt8]) -> String {
        String(decoding: octets.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
