import BLEHost
import BLEPackets

/// The text of a file of bonds.
///
///     jelling bonds 1
///     key irk=… sum=…
///     bond identity=C2:…/random secure=1 authenticated=0 size=16 irk=… local=KEY,EDIV,RAND … sum=…
///     end lines=2 sum=…
///
/// Each line has its own checksum, so that damage loses only the damaged lines and never yields half a bond.
struct BondFile: Equatable {
    static let heading = "jelling bonds "
    static let version = "1"

    var identityResolvingKey: Key128?
    var bonds = BondList()

    /// The result of reading: whether the file is complete.
    enum Reading: Equatable {
        case whole(BondFile)
        case damaged(BondFile)
        case unknownVersion
    }

    static func read(_ bytes: [UInt8]) -> Reading {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard lines.count >= 2, lines[0].hasPrefix(heading) else { return .damaged(BondFile()) }
        // The last line ends with a line feed, too.
        var isWhole = lines.removeLast().isEmpty
        let found = lines.removeFirst().dropFirst(heading.count)
        guard found == version else {
            return found.utf8.allSatisfy { (0x30...0x39).contains($0) } && !found.isEmpty
                ? .unknownVersion : .damaged(BondFile())
        }
        var file = BondFile()
        let end = lines.last.flatMap(BondLine.Fields.init)
        let expected = Substring(String(lines.count - 1))
        if end?.kind == "end", end?["lines"] == expected { lines.removeLast() } else { isWhole = false }
        isWhole = file.read(lines) == lines.count && isWhole
        return isWhole ? .whole(file) : .damaged(file)
    }

    /// - Returns: how many lines were understood.
    private mutating func read(_ lines: [String]) -> Int {
        var understood = 0
        for line in lines {
            guard let fields = BondLine.Fields(line) else { continue }
            switch fields.kind {
            case "key":
                guard let key = fields.key("irk") else { continue }
                identityResolvingKey = key
            case "bond":
                guard let bond = BondLine.bond(fields) else { continue }
                bonds.set(bond)
            default: continue
            }
            understood += 1
        }
        return understood
    }

    var text: String {
        var lines: [String] = []
        if let identityResolvingKey { lines.append("key irk=" + BondLine.text(identityResolvingKey)) }
        for bond in bonds.all { lines.append(BondLine.text(bond)) }
        lines.append("end lines=\(lines.count)")
        return Self.heading + Self.version + "\n" + lines.map { BondLine.sealed($0) + "\n" }.joined()
    }
}

/// One line of a bond file.
enum BondLine {
    /// The words of a line with a valid checksum.
    struct Fields {
        let kind: Substring
        private var values: [Substring: Substring] = [:]

        init?(_ line: String) {
            guard let mark = line.range(of: " sum="), line[mark.upperBound...] == BondLine.sum(line[..<mark.lowerBound])
            else { return nil }
            let words = line[..<mark.lowerBound].split(separator: " ")
            guard let kind = words.first else { return nil }
            self.kind = kind
            for word in words.dropFirst() {
                guard let equals = word.firstIndex(of: "=") else { return nil }
                values[word[..<equals]] = word[word.index(after: equals)...]
            }
        }

        subscript(name: Substring) -> Substring? { values[name] }

        func key(_ name: Substring) -> Key128? { values[name].flatMap(BondLine.key) }

        func flag(_ name: Substring) -> Bool? {
            switch values[name] {
            case "0": false
            case "1": true
            default: nil
            }
        }
    }

    static func sealed(_ line: String) -> String { line + " sum=" + sum(line[...]) }

    /// FNV-1a: detects damage. The file's mode protects against attackers.
    static func sum(_ line: Substring) -> String {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        for octet in line.utf8 { sum = (sum ^ UInt64(octet)) &* 0x100_0000_01B3 }
        return hexadecimal(sum, digits: 16)
    }

    static func text(_ key: Key128) -> String { hexadecimal(key.rawValue, digits: 32) }

    static func text(_ bond: Bond) -> String {
        var text = "bond identity=\(bond.identity) secure=\(bond.isSecureConnections ? 1 : 0)"
        text += " authenticated=\(bond.isAuthenticated ? 1 : 0) size=\(bond.keySize)"
        if let key = bond.identityResolvingKey { text += " irk=" + self.text(key) }
        if let key = bond.localKey { text += " local=" + self.text(key) }
        if let key = bond.peerKey { text += " peer=" + self.text(key) }
        if let key = bond.localSigningKey { text += " local-signing=\(self.text(key.key)),\(key.counter)" }
        if let key = bond.peerSigningKey { text += " peer-signing=\(self.text(key.key)),\(key.counter)" }
        if bond.isUnasked { text += " unasked=1" }
        if let user = bond.user { text += " user=\(user.number)" + (user.isOperator ? " operator=1" : "") }
        if let capability = bond.insufficientCapability { text += " capability=\(capability.rawValue)" }
        // In hexadecimal, because it may contain separators of words and lines.
        if let name = bond.name { text += " name=" + name.utf8.map { hexadecimal($0, digits: 2) }.joined() }
        if bond.lastUse != 0 { text += " used=\(bond.lastUse)" }
        if let record = bond.clientRecord {
            text += " client=\(record.features),\(hexadecimal(record.knownTable, digits: 16))"
            for item in record.configurations {
                text += ",\(item.handle.rawValue):\(item.modes.rawValue)"
                if let owner = item.owner { text += ":" + hexadecimal(owner, digits: 16) }
            }
        }
        return text
    }

    private static func text(_ key: LongTermKey) -> String {
        "\(text(key.key)),\(hexadecimal(key.encryptedDiversifier, digits: 4))"
            + ",\(hexadecimal(key.randomNumber, digits: 16))"
    }

    /// `nil` if a field is missing or out of range.
    static func bond(_ fields: Fields) -> Bond? {
        guard let identity = fields["identity"].flatMap({ DeviceAddress(String($0)) }),
            let isSecure = fields.flag("secure"), let isAuthenticated = fields.flag("authenticated"),
            let size = fields["size"].flatMap({ UInt8($0) }), (7...16).contains(size)
        else { return nil }
        var bond = Bond(
            identity: identity, isSecureConnections: isSecure, isAuthenticated: isAuthenticated, keySize: size)
        bond.isUnasked = fields.flag("unasked") ?? false
        bond.user = fields["user"].flatMap { UInt32($0) }.map {
            ClientUser($0, isOperator: fields.flag("operator") ?? false)
        }
        bond.insufficientCapability = fields["capability"].flatMap { UInt8($0) }.flatMap { IOCapability(rawValue: $0) }
        if let text = fields["used"] {
            guard let use = UInt64(text) else { return nil }
            bond.lastUse = use
        }
        if let text = fields["irk"] {
            guard let key = key(text) else { return nil }
            bond.identityResolvingKey = key
        }
        if let text = fields["local"] {
            guard let key = longTermKey(text) else { return nil }
            bond.localKey = key
        }
        if let text = fields["peer"] {
            guard let key = longTermKey(text) else { return nil }
            bond.peerKey = key
        }
        if let text = fields["local-signing"] {
            guard let key = signingKey(text) else { return nil }
            bond.localSigningKey = key
        }
        if let text = fields["peer-signing"] {
            guard let key = signingKey(text) else { return nil }
            bond.peerSigningKey = key
        }
        if let text = fields["name"] {
            guard let name = name(text) else { return nil }
            bond.name = name
        }
        if let text = fields["client"] {
            guard let record = record(text) else { return nil }
            bond.clientRecord = record
        }
        return bond
    }

    static func key(_ text: Substring) -> Key128? {
        guard text.utf8.count == 32 else { return nil }
        return UInt128(text, radix: 16).map(Key128.init(rawValue:))
    }

    private static func name(_ text: Substring) -> String? {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2), !digits.isEmpty else { return nil }
        let octets = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        return String(validating: octets, as: UTF8.self)
    }

    private static func longTermKey(_ text: Substring) -> LongTermKey? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3, let key = key(parts[0]), let diversifier = UInt16(parts[1], radix: 16),
            let random = UInt64(parts[2], radix: 16)
        else { return nil }
        return LongTermKey(key: key, encryptedDiversifier: diversifier, randomNumber: random)
    }

    private static func signingKey(_ text: Substring) -> SigningKey? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let key = key(parts[0]), let counter = UInt32(parts[1]) else { return nil }
        return SigningKey(key: key, counter: counter)
    }

    private static func record(_ text: Substring) -> GATTClientRecord? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count >= 2, let features = UInt8(parts[0]), let table = UInt64(parts[1], radix: 16) else {
            return nil
        }
        var record = GATTClientRecord(configurations: [], features: features, knownTable: table)
        for part in parts[2...] {
            let words = part.split(separator: ":")
            guard (2...3).contains(words.count), let handle = UInt16(words[0]), let modes = UInt16(words[1]) else {
                return nil
            }
            var configuration = GATTClientRecord.Configuration(
                handle: AttributeHandle(rawValue: handle), modes: SubscriptionModes(rawValue: modes))
            if words.count == 3 {
                guard let owner = UInt64(words[2], radix: 16) else { return nil }
                configuration.owner = owner
            }
            record.configurations.append(configuration)
        }
        return record
    }

    private static func hexadecimal(_ value: some BinaryInteger, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}

extension String {
    /// The last occurrence of `text`.
    fileprivate func range(of text: String) -> Range<String.Index>? {
        let pattern = Array(text.utf8)
        var end = utf8.endIndex
        while let start = utf8.index(end, offsetBy: -pattern.count, limitedBy: utf8.startIndex) {
            if utf8[start..<end].elementsEqual(pattern) { return start..<end }
            end = utf8.index(before: end)
        }
        return nil
    }
}
