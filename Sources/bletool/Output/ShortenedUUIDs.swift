extension String {
    /// The text in exactly so many columns. Where it is too long, the UUIDs of 128 bits in it lose their middle first:
    /// services of one maker often begin with the same digits, or end with them.
    func fittedShorteningUUIDs(to width: Int) -> String {
        let excess = displayWidth - width
        guard excess > 0 else { return fitted(to: width) }
        let characters = Array(self)
        let places = Self.longUUIDs(in: characters)
        guard !places.isEmpty else { return fitted(to: width) }
        let room = max(Self.leastShortened, Self.longUUIDLength - (excess + places.count - 1) / places.count)
        var text = ""
        var end = 0
        for place in places {
            text += String(characters[end..<place + room / 2]) + "…"
            end = place + Self.longUUIDLength
            text += String(characters[end - (room - 1 - room / 2)..<end])
        }
        return (text + String(characters[end...])).fitted(to: width)
    }

    private static let longUUIDLength = 36
    /// The fewest characters that still distinguish UUIDs.
    private static let leastShortened = 13

    /// Where they begin.
    private static func longUUIDs(in characters: [Character]) -> [Int] {
        var places: [Int] = []
        var place = 0
        while place + longUUIDLength <= characters.count {
            if isLongUUID(characters[place..<place + longUUIDLength]) {
                places.append(place)
                place += longUUIDLength
            } else {
                place += 1
            }
        }
        return places
    }

    private static func isLongUUID(_ characters: ArraySlice<Character>) -> Bool {
        for (place, character) in characters.enumerated() {
            let isDash = [8, 13, 18, 23].contains(place)
            guard isDash ? character == "-" : character.isASCII && character.isHexDigit else { return false }
        }
        return true
    }
}
