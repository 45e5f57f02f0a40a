import Glibc

/// What this process has allocated and not freed.
enum Heap {
    static var kilobytes: Double {
        let information = mallinfo2()
        return Double(information.uordblks + information.hblkhd) / 1024
    }
}
