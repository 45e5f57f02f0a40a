import CoreBluetooth

// protected-reader ADVERTISED-SERVICE CHARACTERISTIC [PASSKEY]
let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 2 else {
    print("usage: protected-reader ADVERTISED-SERVICE CHARACTERISTIC [PASSKEY]")
    exit(2)
}
let words = Array(arguments)

// Without a passkey the system asks at the terminal, where there is one. On Apple's system it always asks by itself,
// and there is no such class.
#if os(Linux)
if words.count > 2, let passkey = UInt32(words[2]) {
    CBApplication.shared.setPairingAgent(GivenPasskey(passkey: passkey), capability: .keyboard)
}
#endif

let reader = ProtectedReader(advertised: CBUUID(string: words[0]), characteristic: CBUUID(string: words[1]))
RunLoop.main.run()
_ = reader
