import CoreBluetooth
import Glibc

/// Measures an app on the Core Bluetooth API, whose controller stands at the other end of a Unix socket.
///
///     Facade scan | latency | listen [duplicates] | idle | flood FOLDER RATE | feeder
///
/// With BLED in the environment, the app of `scan` and `latency` shares the controller of that program, which is
/// started for it on FACADE_FOLDER. `listen` and `idle` are only apps, of the daemon that JELLING_SOCKET names, and
/// `flood` only a controller, which sends so many reports a second; they say `ready`, and end with their standard
/// input. `feeder` is `FeederApp` on the controller that the environment names.
let words = Array(CommandLine.arguments.dropFirst())
let mode = words.first ?? "latency"
let folder = ProcessInfo.processInfo.environment["FACADE_FOLDER"] ?? "/tmp/jelling-facade-\(getpid())"
let bled = ProcessInfo.processInfo.environment["BLED"]
let way = bled == nil ? "" : ", through bled"
if mode == "scan" || mode == "latency" {
    mkdir(folder, 0o700)
    setenv("JELLING_STATE", folder, 1)
    if bled == nil {
        setenv("JELLING_SOCKET", "none", 1)
        setenv("JELLING_TRANSPORT", "unix:\(folder)/hci", 1)
    } else {
        setenv("JELLING_SOCKET", folder + "/bled.sock", 1)
    }
}

/// Starts the daemon whose controller this process is.
func startDaemon() -> Process? {
    guard let bled else { return nil }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: bled)
    process.arguments = ["--adapter", "unix:\(folder)/hci", "--socket", folder + "/bled.sock"]
    guard (try? process.run()) != nil else { exit(1) }
    while access(folder + "/bled.sock", F_OK) != 0 { usleep(10_000) }
    return process
}

func ready() {
    print("ready")
    fflush(nil)
    DispatchQueue(label: "input").async {
        while readLine() != nil {}
        exit(0)
    }
}
// Set before the app begins, read at its end.
nonisolated(unsafe) var daemon: Process?

func show(_ name: String, _ value: Double, _ unit: String, _ remark: String = "") {
    print("\(name)\t\(value)\t\(unit)\t\t\t\t\(remark)")
    fflush(nil)
}

/// In mebibytes.
func residentMemory() -> Double {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
        let pages = text.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
    else { return 0 }
    return pages * 4096 / 1_048_576
}

func end() -> Never {
    daemon?.terminate()
    try? FileManager.default.removeItem(atPath: folder)
    exit(0)
}

var app: AnyObject?
switch mode {
case "scan":
    let reports = 200_000
    // It goes on for longer: an app hears of events that were lost only with the next one.
    let controller = SocketController(path: folder + "/hci", flood: .max, notifications: 0)
    controller.start()
    daemon = startDaemon()
    app = ScanningApp(wanted: reports) { count, devices, seconds in
        show("discoveries through Core Bluetooth, \(devices) peripherals\(way)", Double(count) / seconds, "1/s")
        show("memory of a scanning app, \(devices) peripherals kept\(way)", residentMemory(), "MB")
        end()
    }
case "listen", "idle":
    app = ListeningApp(scans: mode == "listen", allowsDuplicates: words.contains("duplicates"), ready: ready)
case "flood":
    let controller = SocketController(path: words[1] + "/hci", flood: .max, notifications: 0)
    controller.reportsPerSecond = Int(words[2])
    controller.start()
    ready()
case "feeder":
    app = FeederApp()
default:
    let notifications = 3000
    let controller = SocketController(path: folder + "/hci", flood: 0, notifications: notifications)
    controller.start()
    daemon = startDaemon()
    app = SubscribingApp(controller, wanted: notifications) {
        // Others may share the link from now on.
        _ = FileManager.default.createFile(atPath: folder + "/subscribed", contents: nil)
    } ended: { latencies in
        let sorted = latencies.sorted()
        show("notification, HCI packet to delegate, median\(way)", Double(sorted[sorted.count / 2]) / 1000, "µs")
        show(
            "notification, HCI packet to delegate, 99th percentile\(way)",
            Double(sorted[sorted.count * 99 / 100]) / 1000,
            "µs")
        end()
    }
}
RunLoop.main.run()
