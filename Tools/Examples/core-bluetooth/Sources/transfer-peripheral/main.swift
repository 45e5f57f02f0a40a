import CoreBluetooth

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 2000
let letters = Array("abcdefghijklmnopqrstuvwxyz")
let peripheral = TransferPeripheral(text: String((0..<count).map { letters[$0 % letters.count] }))
RunLoop.main.run()
