import Glibc

/// What a gateway in a crowd does all day: from the packet to the discovery, or to the finding that it is none.
enum ScanMeasurements {
    /// Reports for which memory must stay as it is.
    private static let reports = 5_000_000

    static let all = crowds + growth

    private static let crowds: [Measurement] = [
        Measurement(
            "report through the host, 10,000 steady devices", nanoseconds: 10_000, allocations: 0, rate: 100_000
        ) {
            let load = ScanLoad(.steady)
            _ = load.run(100_000)
            return load.run
        },
        Measurement(
            "extended report through the host, 10,000 steady devices", nanoseconds: 10_000, allocations: 0,
            rate: 100_000
        ) {
            let load = ScanLoad(.steady, isExtended: true)
            _ = load.run(100_000)
            return load.run
        },
        Measurement("report through the host, 1 % with new data", nanoseconds: 10_000, allocations: 0.01, rate: 100_000)
        {
            let load = ScanLoad(.changing)
            _ = load.run(100_000)
            return load.run
        },
        Measurement("report through the host, every report wanted", nanoseconds: 10_000, allocations: 0, rate: 100_000)
        {
            let load = ScanLoad(.steady, allowsDuplicates: true)
            _ = load.run(100_000)
            return load.run
        },
        Measurement("report through the host, new addresses only", nanoseconds: 10_000, allocations: 1, rate: 100_000) {
            let load = ScanLoad(.strangers)
            _ = load.run(100_000)
            return load.run
        },
    ]

    private static let crowdSizes = [100, 1000, 10_000, 100_000]

    /// What an engine has in memory that scans so many devices.
    static func memory() -> [Row] {
        crowdSizes.map { devices in
            let load = ScanLoad(.steady, devices: devices)
            let before = Heap.kilobytes
            _ = load.run(2 * devices)
            let used = Heap.kilobytes - before
            withExtendedLifetime(load) {}
            return Row(
                name: "memory of the engine, \(devices) devices in the air", value: used, unit: "kB",
                remark: "\(Int((used * 1024 / Double(devices)).rounded())) octets of each")
        }
    }

    /// What the number of devices costs.
    private static let growth = crowdSizes.map { devices in
        Measurement("report through the host, \(devices) devices in the air", nanoseconds: 10_000) {
            let load = ScanLoad(.steady, devices: devices)
            _ = load.run(2 * devices)
            return load.run
        }
    }

    static func memoryName(of crowd: ScanLoad.Crowd) -> String {
        let kind =
            switch crowd {
            case .steady: "10,000 steady devices"
            case .changing: "1 % with new data"
            case .strangers: "new addresses only"
            }
        return "memory growth over \(reports / 1_000_000) million reports, \(kind)"
    }

    /// How much more memory the process holds after a few million reports than after the first few hundred thousand.
    static func memory(of crowd: ScanLoad.Crowd) -> Row {
        let load = ScanLoad(crowd)
        _ = load.run(400_000)
        let before = residentKilobytes
        let discoveries = load.discoveries
        _ = load.run(reports)
        return Row(
            name: memoryName(of: crowd), value: residentKilobytes - before, unit: "kB", budget: .atMost(512),
            remark: "\(load.discoveries - discoveries) discoveries; \(Int(residentKilobytes)) kB in all")
    }

    /// What the kernel says that the process holds in memory now.
    private static var residentKilobytes: Double {
        guard let file = fopen("/proc/self/statm", "r") else { return .nan }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return .nan }
        let fields = line.split(separator: CChar(UInt8(ascii: " ")))
        guard fields.count > 1 else { return .nan }
        let pages = fields[1].reduce(0) { $0 * 10 + Int($1) - Int(UInt8(ascii: "0")) }
        return Double(pages * Int(sysconf(Int32(_SC_PAGESIZE))) / 1024)
    }
}
