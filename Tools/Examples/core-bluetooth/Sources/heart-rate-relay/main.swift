import CoreBluetooth

let relay = HeartRateRelay()
RunLoop.main.run()
_ = relay
