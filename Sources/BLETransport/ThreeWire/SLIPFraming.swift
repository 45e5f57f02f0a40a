/// The frames of the three-wire transport on the line (Core 5.4, Vol 4, Part D, 3).
///
/// 0xC0 is around each frame; within one, 0xDB and a second octet stand for 0xC0 and 0xDB and, with software flow
/// control, for XON and XOFF.
enum SLIPFraming {
    static let delimiter: UInt8 = 0xC0
    static let escape: UInt8 = 0xDB
    static let resume: UInt8 = 0x11
    static let pause: UInt8 = 0x13

    /// Appends a frame.
    /// - Parameter escapesFlowControl: whether XON and XOFF have a meaning of their own on the line.
    static func append(_ frame: [UInt8], escapesFlowControl: Bool, to line: inout [UInt8]) {
        line.append(delimiter)
        for octet in frame {
            switch octet {
            case delimiter: line += [escape, 0xDC]
            case escape: line += [escape, 0xDD]
            case resume where escapesFlowControl: line += [escape, 0xDE]
            case pause where escapesFlowControl: line += [escape, 0xDF]
            default: line.append(octet)
            }
        }
        line.append(delimiter)
    }

    /// The octet that is meant by this one behind 0xDB; `nil` for none.
    static func unescaped(_ octet: UInt8) -> UInt8? {
        switch octet {
        case 0xDC: delimiter
        case 0xDD: escape
        case 0xDE: resume
        case 0xDF: pause
        default: nil
        }
    }
}

/// Collects the octets of frames. What is between frames, and frames that are broken or too long, is dropped.
struct SLIPDecoder {
    /// Header, the longest payload, and the CRC.
    static let maximumFrameByteCount = 4 + 4095 + 2

    private enum State { case outside, inside, escaped }

    private var state = State.outside
    private var frame: [UInt8] = []

    /// Takes one octet.
    /// - Returns: a frame that ends with it, which is not empty.
    mutating func take(_ octet: UInt8) -> [UInt8]? {
        if octet == SLIPFraming.delimiter {
            // One delimiter can end a frame and begin the next: a lost one costs no more than the frame before it.
            defer {
                frame.removeAll(keepingCapacity: true)
                state = .inside
            }
            return state == .inside && !frame.isEmpty ? frame : nil
        }
        switch state {
        case .outside: break
        case .inside where octet == SLIPFraming.escape: state = .escaped
        case .inside: append(octet)
        case .escaped:
            guard let meant = SLIPFraming.unescaped(octet) else {
                state = .outside
                break
            }
            state = .inside
            append(meant)
        }
        return nil
    }

    private mutating func append(_ octet: UInt8) {
        frame.append(octet)
        if frame.count > Self.maximumFrameByteCount {
            state = .outside
            frame.removeAll(keepingCapacity: true)
        }
    }
}
