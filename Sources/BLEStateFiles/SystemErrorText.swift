import Glibc

/// The system's text for an `errno`, such as "No space left on device".
package func systemErrorText(_ code: Int32) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
        guard let start = text.baseAddress, unsafe strerror_r(code, start, text.count) == 0 else {
            return "error \(code)"
        }
        return unsafe String(cString: start)
    }
}
