import CoreBluetooth

/// An app that offers services, also from the background, and one that looks for them: what the tests of the overflow
/// area run as two processes.
///
///     hidden-service offer [--background] [--name NAME] SERVICE…
///     hidden-service find [--connect] SERVICE…
var words = Array(CommandLine.arguments.dropFirst())
let verb = words.isEmpty ? "" : words.removeFirst()

@MainActor func takeOption(_ name: String) -> Bool {
    guard let place = words.firstIndex(of: name) else { return false }
    words.remove(at: place)
    return true
}

let isBehind = takeOption("--background")
let connects = takeOption("--connect")
var name = "Hidden"
if let place = words.firstIndex(of: "--name"), place + 1 < words.count {
    name = words[place + 1]
    words.removeSubrange(place...place + 1)
}
/// `CBUUID` ends the program if the text is no UUID.
func isUUID(_ word: String) -> Bool {
    let isShort = [4, 8].contains(word.utf8.count)
    return isShort && word.allSatisfy { $0.isASCII && $0.isHexDigit } || UUID(uuidString: word) != nil
}
let services = words.allSatisfy(isUUID) ? words.map { CBUUID(string: $0) } : []
var app: NSObject?
switch verb {
case "offer" where !services.isEmpty: app = Offer(services, name: name, goesBehind: isBehind)
case "find" where !services.isEmpty: app = Search(services, connects: connects)
default:
    print("usage: hidden-service offer [--background] [--name NAME] SERVICE… | find [--connect] SERVICE…")
    exit(2)
}
RunLoop.main.run()
_ = app
