/// A form in which captures are sent. The first two and reports are unpacked where zlib is installed.
public enum CaptureArchive: Hashable, Sendable {
    /// .gz
    case gzip
    /// .zip, as bug reports of Android
    case zip
    /// .xz
    case xz
    /// .zst
    case zstd
    /// .bz2
    case bzip2
    /// A report of Android as text, with the log of Bluetooth packed in it (btsnooz).
    case androidReport

    /// By the first four octets of a file, big-endian; `nil` for another one.
    init?(magic: UInt32) {
        switch magic {
        case 0x1F8B_0000...0x1F8B_FFFF: self = .gzip
        case 0x504B_0304, 0x504B_0506: self = .zip
        case 0xFD37_7A58: self = .xz
        case 0x28B5_2FFD: self = .zstd
        case 0x425A_6831...0x425A_6839: self = .bzip2
        // "====" before "== dumpstate", and "Blue" of "Bluetooth Status".
        case 0x3D3D_3D3D, 0x426C_7565: self = .androidReport
        default: return nil
        }
    }

    /// Whether the reader can unpack it.
    var isUnpacked: Bool {
        switch self {
        case .gzip, .zip, .androidReport: true
        case .xz, .zstd, .bzip2: false
        }
    }

    /// That it has no capture, and what to do, in words.
    var absence: String {
        switch self {
        case .androidReport:
            "a text without BTSNOOP_LOG_SUMMARY: not a capture, nor a bug report of Android with one; switch ‘Bluetooth "
                + "HCI snoop log’ on in the developer options before you take another"
        default:
            "an archive without a capture: bug reports of Android have one in FS/data/misc/bluetooth/logs if ‘Bluetooth "
                + "HCI snoop log’ was on in the developer options"
        }
    }

    /// What it is and what to do, in words.
    var explanation: String {
        switch self {
        case .gzip: "a gzip file: unpack it first, with gunzip, or install zlib (libz.so.1)"
        case .zip:
            "a zip file: unpack it first, with unzip, or install zlib (libz.so.1); bug reports of Android have captures "
                + "in FS/data/misc/bluetooth/logs"
        case .xz: "an xz file: unpack it first, with unxz"
        case .zstd: "a zstd file: unpack it first, with unzstd"
        case .bzip2: "a bzip2 file: unpack it first, with bunzip2"
        case .androidReport:
            "a text, as Android's bug reports: if it has BTSNOOP_LOG_SUMMARY, extract that first, with Android's "
                + "btsnooz.py"
        }
    }
}
