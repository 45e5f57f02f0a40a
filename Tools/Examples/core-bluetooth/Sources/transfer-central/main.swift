import CoreBluetooth

let central = TransferCentral()
RunLoop.main.run()
