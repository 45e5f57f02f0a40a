import CoreBluetooth
import Glibc

/// Measures an app on the Core Bluetooth API, whose controller stands at the other end of a Unix socket.
///
///     Facade scan | latency
let mode = CommandLine.arguments.dropFirst().first ?? "latency"
let folder = "/tmp/jelling-facade-\(getpid())"
mkdir(folder, 0o700)
setenv("JELLING_TRANSPORT", "unix:\(folder)/hci", 1)
setenv("JELLING_STATE", folder, 1)

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
    try? FileManager.default.removeItem(atPath: folder)
    exit(0)
}

var app: AnyObject?
switch mode {
case "scan":
    let reports = 200_000
    let controller = SocketController(path: folder + "/hci", flood: reports, notifications: 0)
    controller.start()
    app = ScanningApp(wanted: reports) { count, devices, seconds in
        show("discoveries through Core Bluetooth, \(devices) peripherals", Double(count) / seconds, "1/s")
        show("memory of a scanning app, \(devices) peripherals kept", residentMemory(), "MB")
        end()
    }
default:
    let notifications = 3000
    let controller = SocketController(path: folder + "/hci", flood: 0, notifications: notifications)
    controller.start()
    app = SubscribingApp(controller, wanted: notifications) { latencies in
        let sorted = latencies.sorted()
        show("notification, HCI packet to delegate, median", Double(sorted[sorted.count / 2]) / 1000, "µs")
        show(
            "notification, HCI packet to delegate, 99th percentile", Double(sorted[sorted.count * 99 / 100]) / 1000,
            "µs")
        end()
    }
}
RunLoop.main.run()
