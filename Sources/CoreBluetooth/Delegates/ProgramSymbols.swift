import Foundation

/// The symbols that the linker kept in a file of this program: the executable, or a loaded library.
///
/// They are read on demand and not kept: an ordinary program never needs them (see `SubclassMethods`).
struct ProgramSymbols {
    private let file: Data
    /// The load address of the file minus the address in its symbols.
    private let bias: UInt

    /// The symbols of the file that is mapped at this address; `nil` if there is no such file or it is not 64-bit ELF.
    init?(holding address: UInt) {
        guard let listing = FileManager.default.contents(atPath: "/proc/self/maps") else { return nil }
        let mappings = String(decoding: listing, as: UTF8.self).split(separator: "\n").compactMap { Mapping($0) }
        guard let path = mappings.first(where: { $0.range.contains(address) })?.path,
            let first = mappings.first(where: { $0.path == path && $0.offset == 0 }),
            let file = Self.contents(of: path),
            let lowest = ELFReader.lowestAddress(in: file)
        else { return nil }
        self.file = file
        bias = first.range.lowerBound &- lowest
    }

    private static func contents(of path: String) -> Data? {
        let url = URL(fileURLWithPath: path)
        if let data = try? Data(contentsOf: url, options: .alwaysMapped) { return data }
        // The program's own file may have been replaced since the program started.
        guard path.hasSuffix(" (deleted)") else { return nil }
        return try? Data(contentsOf: URL(fileURLWithPath: "/proc/self/exe"), options: .alwaysMapped)
    }

    /// The symbol at exactly this address with this suffix.
    func name(at address: UInt, endingIn end: String) -> String? {
        let wanted = address &- bias
        return withSymbols { symbols in
            for index in 0..<symbols.count where symbols.value(index) == wanted {
                if let name = symbols.name(index), name.hasSuffix(end) { return name }
            }
            return nil
        }
    }

    /// All symbols with this prefix, and their addresses in memory.
    func names(beginningWith beginning: String) -> [(name: String, address: UInt)] {
        let beginning = Array(beginning.utf8)
        return withSymbols { symbols in
            (0..<symbols.count).compactMap { index in
                guard symbols.name(index, beginsWith: beginning), let name = symbols.name(index) else { return nil }
                return (name, symbols.value(index) &+ bias)
            }
        } ?? []
    }

    /// Uses the file's symbol table: the full one, or the dynamic linker's if the full one was stripped.
    private func withSymbols<Result>(_ body: (ELFReader.Symbols) -> Result?) -> Result? {
        guard let table = ELFReader.symbolTable(in: file) else { return nil }
        return unsafe file.withUnsafeBytes { body(unsafe ELFReader.Symbols($0, table)) }
    }

    /// A line of /proc/self/maps (proc(5)).
    private struct Mapping {
        let range: Range<UInt>
        let offset: UInt
        let path: String

        init?(_ line: Substring) {
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard fields.count == 6, let offset = UInt(fields[2], radix: 16) else { return nil }
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            let path = String(fields[5].drop { $0 == " " })
            guard ends.count == 2, ends[0] <= ends[1], path.hasPrefix("/") else { return nil }
            range = ends[0]..<ends[1]
            self.offset = offset
            self.path = path
        }
    }
}
