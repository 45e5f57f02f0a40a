import CoreBluetooth

let monitor = HeartRateMonitor(beatsWanted: CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 5)
RunLoop.main.run()
_ = monitor
