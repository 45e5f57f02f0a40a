import Foundation

/// Reads symbols of 64-bit little-endian ELF files (elf(5)). A damaged or other file has none.
enum ELFReader {
    /// The positions of the symbols and their names in the file.
    struct Table {
        let symbols: Range<Int>
        let names: Range<Int>
    }

    private static let pageMask: UInt64 = 0xFFF
    private static let symbolSize = 24

    private static func isELF(_ file: Data) -> Bool {
        file.count >= 64 && file.prefix(6).elementsEqual([0x7F, 0x45, 0x4C, 0x46, 2, 1])
    }

    /// The lowest virtual address in the file.
    static func lowestAddress(in file: Data) -> UInt? {
        guard isELF(file), let table = file.integer(UInt64.self, at: 32), let size = file.integer(UInt16.self, at: 54),
            let count = file.integer(UInt16.self, at: 56), let table = Int(exactly: table)
        else { return nil }
        for index in 0..<Int(count) {
            let entry = table &+ index * Int(size)
            guard file.integer(UInt32.self, at: entry) == 1, let offset = file.integer(UInt64.self, at: entry &+ 8),
                offset & ~pageMask == 0, let address = file.integer(UInt64.self, at: entry &+ 16)
            else { continue }
            return UInt(address & ~pageMask)
        }
        return nil
    }

    static func symbolTable(in file: Data) -> Table? {
        guard isELF(file), let table = file.integer(UInt64.self, at: 40), let size = file.integer(UInt16.self, at: 58),
            let count = file.integer(UInt16.self, at: 60), let table = Int(exactly: table)
        else { return nil }
        func place(_ section: Int) -> Range<Int>? {
            let entry = table &+ section &* Int(size)
            guard section < Int(count), let offset = file.integer(UInt64.self, at: entry &+ 24),
                let length = file.integer(UInt64.self, at: entry &+ 32), let start = Int(exactly: offset),
                let length = Int(exactly: length), start <= file.count, length <= file.count - start
            else { return nil }
            return start..<start + length
        }
        // SHT_SYMTAB, otherwise SHT_DYNSYM.
        for kind in [2, 11] as [UInt32] {
            for section in 0..<Int(count) {
                let entry = table &+ section * Int(size)
                guard file.integer(UInt32.self, at: entry &+ 4) == kind, let symbols = place(section),
                    let link = file.integer(UInt32.self, at: entry &+ 40), let names = place(Int(link))
                else { continue }
                return Table(symbols: symbols, names: names)
            }
        }
        return nil
    }

    /// The symbols of a file, read in place: a program has several hundred thousand.
    @safe
    struct Symbols {
        private let symbols: UnsafeRawBufferPointer
        private let names: UnsafeRawBufferPointer
        /// The number of symbols.
        let count: Int
        private let nameOctets: Int

        /// - Parameter file: the whole file; it must outlive this value.
        init(_ file: UnsafeRawBufferPointer, _ table: Table) {
            unsafe symbols = UnsafeRawBufferPointer(rebasing: file[table.symbols])
            unsafe names = UnsafeRawBufferPointer(rebasing: file[table.names])
            count = table.symbols.count / symbolSize
            nameOctets = table.names.count
        }

        // Every index is below `count`: the reads stay within `symbols`.

        func value(_ index: Int) -> UInt {
            UInt(
                unsafe UInt64(
                    littleEndian: symbols.loadUnaligned(fromByteOffset: index * symbolSize + 8, as: UInt64.self)))
        }

        /// The position of the symbol's name; the end of the names if it is invalid.
        private func place(_ index: Int) -> Int {
            let offset = unsafe UInt32(
                littleEndian: symbols.loadUnaligned(fromByteOffset: index * symbolSize, as: UInt32.self))
            return min(Int(offset), nameOctets)
        }

        func name(_ index: Int, beginsWith beginning: [UInt8]) -> Bool {
            let start = place(index)
            guard nameOctets - start >= beginning.count, let name = unsafe names.baseAddress else { return false }
            return unsafe memcmp(name + start, beginning, beginning.count) == 0
        }

        func name(_ index: Int) -> String? {
            let rest = unsafe names[place(index)...]
            return unsafe rest.firstIndex(of: 0).map { unsafe String(decoding: rest[..<$0], as: UTF8.self) }
        }
    }
}

extension Data {
    /// A little-endian number; `nil` beyond the end.
    fileprivate func integer<Value: FixedWidthInteger & BitwiseCopyable>(_ type: Value.Type, at offset: Int) -> Value? {
        guard offset >= 0, offset <= count - MemoryLayout<Value>.size else { return nil }
        // In bounds: checked on the line above.
        return unsafe withUnsafeBytes { unsafe Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
    }
}
