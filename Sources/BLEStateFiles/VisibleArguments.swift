import Glibc

/// The arguments as other users see them, in `/proc/PID/cmdline`. What is hidden here was visible until then, and a shell
/// may keep it: programs that take secrets as arguments also take them from files.
public enum VisibleArguments {
    /// Replaces the end of an argument by as many `*`.
    ///
    /// Call it before other threads begin. Take a copy of the arguments first: on Linux, Swift may read
    /// `CommandLine.arguments` from the same memory.
    /// - Parameters:
    ///   - number: which argument; 0 is the name of the program.
    ///   - offset: how many octets of it stay.
    /// - Returns: whether there is such an argument.
    @discardableResult
    public static func hide(argument number: Int, from offset: Int = 0) -> Bool {
        guard let memory = unsafe place else { return false }
        var position = 0
        for _ in 0..<number {
            while position < memory.count, unsafe memory[position] != 0 { position += 1 }
            position += 1
        }
        guard position < memory.count else { return false }
        position += offset
        while position < memory.count, unsafe memory[position] != 0 {
            unsafe memory[position] = UInt8(ascii: "*")
            position += 1
        }
        return true
    }

    /// Replaces a text in an argument by `***`.
    /// - Returns: whether it was found.
    public static func hide(_ secret: Substring, in argument: String) -> Bool {
        guard let memory = unsafe place else { return false }
        let whole = Array(argument.utf8)
        let start = argument.utf8.distance(from: argument.startIndex, to: secret.startIndex)
        let masked = whole[..<start] + Array("***".utf8) + whole[(start + secret.utf8.count)...]
        var isFound = false
        var position = 0
        while position + whole.count <= memory.count {
            let end = position + whole.count
            guard unsafe memory[position..<end].elementsEqual(whole) else {
                position += 1
                continue
            }
            // What is behind a shorter text becomes empty; a longer one is cut.
            for offset in whole.indices {
                unsafe memory[position + offset] = offset < masked.count ? masked[offset] : 0
            }
            isFound = true
            position = end
        }
        return isFound
    }

    /// The memory that the kernel shows; `CommandLine` has copies of it.
    private static var place: UnsafeMutableBufferPointer<UInt8>? {
        guard let file = unsafe fopen("/proc/self/stat", "re") else { return nil }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 4096)
        guard unsafe fgets(&line, Int32(line.count), file) != nil else { return nil }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // After the name, which may contain spaces, the third field follows; arg_start and arg_end are 48 and 49.
        guard let name = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: name)...].split(separator: " ")
        guard fields.count > 46, let start = UInt(fields[45]), let end = UInt(fields[46]), start > 0, end > start else {
            return nil
        }
        let memory = unsafe UnsafeMutablePointer<UInt8>(bitPattern: start)
        return unsafe UnsafeMutableBufferPointer(start: memory, count: Int(end - start))
    }
}
