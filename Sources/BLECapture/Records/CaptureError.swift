/// Why a capture could not be read or written, and where.
public struct CaptureError: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        /// The system refused to open the file.
        case cannotOpen(SystemError)
        /// The existing file is not overwritten, because another user may have put it there: the cause and its remedy.
        case refused(String)
        /// The system failed to read.
        case cannotRead(SystemError)
        /// The system failed to write, usually because the disk is full.
        case cannotWrite(SystemError)
        /// The file is empty.
        case empty
        /// The content has no known format.
        case unknownFormat
        /// The file is packed, and cannot be unpacked here.
        case packed(CaptureArchive)
        /// An archive or a report without a capture.
        case noCapture(CaptureArchive)
        /// The version of the format is unknown.
        case unsupportedVersion(UInt32)
        /// The datalink (btsnoop) or link type (pcap, pcapng) of the file is not read: `CaptureLinkType` says what it is.
        /// A pcapng file has no interface of another kind; this is the link type of the first.
        case unsupportedLinkType(UInt32)
        /// The file ends inside a header or record.
        case truncated(needed: UInt64, available: UInt64)
        /// A length field contradicts the format or exceeds the maximum length of a record.
        case invalidLength(UInt64)
        /// The trailing length of a pcapng block differs from its leading one.
        case lengthMismatch(leading: UInt32, trailing: UInt32)
        /// The byte-order mark of a pcapng section is invalid.
        case invalidByteOrderMark(UInt32)
        /// A pcapng packet names an interface that its section has not described.
        case unknownInterface(UInt32)
    }

    /// What is wrong.
    public var reason: Reason
    /// The offset in the file of the damaged header or record; when writing, how many octets had been written.
    public var byteOffset: UInt64
    /// The record, counted from 1, that could not be read or written; 0 for the header of the file.
    public var recordNumber: UInt64
    /// Whether reading is over. If `false`, only this record is lost, and the next call continues after it.
    public var isFinal: Bool

    public init(_ reason: Reason, byteOffset: UInt64 = 0, recordNumber: UInt64 = 0, isFinal: Bool = true) {
        self.reason = reason
        self.byteOffset = byteOffset
        self.recordNumber = recordNumber
        self.isFinal = isFinal
    }
}

extension CaptureError: CustomStringConvertible {
    public var description: String {
        switch reason {
        case .cannotOpen, .refused, .empty, .unknownFormat, .packed, .noCapture, .unsupportedLinkType,
            .cannotRead(.longLog), .cannotRead(.longArchive):
            "\(reason)"
        case _ where recordNumber == 0: "\(reason), in the header of the file"
        default: "\(reason), at record \(recordNumber), offset \(byteOffset)"
        }
    }
}

extension CaptureError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cannotOpen(let error): "cannot open: \(error)"
        case .refused(let cause): "\(cause)"
        case .cannotRead(.damagedArchive): "the packed file is damaged, or ends early"
        case .cannotRead(.longLog):
            "the log in the report has more than \(AndroidReport.limit >> 20) MiB, the limit here: Android keeps far less"
        case .cannotRead(.longArchive): "the archive has more than \(Unpacker.entryLimit) files, the limit here"
        case .cannotRead(let error): "cannot read: \(error)"
        case .cannotWrite(let error): "cannot write: \(error)"
        case .empty: "the file is empty"
        case .unknownFormat: "not a capture: neither btsnoop, pcap, pcapng, PacketLogger nor hcidump"
        case .packed(let archive): archive.explanation
        case .noCapture(let archive): archive.absence
        case .unsupportedVersion(let version): "version \(version) of the format is not known"
        case .unsupportedLinkType(let number):
            "\(CaptureLinkType(rawValue: number).explanation): \(CaptureLinkType(rawValue: number).remedy)"
        case .truncated(let needed, let available): "the file ends early: \(needed) bytes needed, \(available) left"
        case .invalidLength(let length): "invalid length \(length)"
        case .lengthMismatch(let leading, let trailing):
            "the lengths at the start (\(leading)) and at the end (\(trailing)) of the block differ"
        case .invalidByteOrderMark: "the byte-order mark is damaged"
        case .unknownInterface(let number): "interface \(number) has no description block"
        }
    }
}
