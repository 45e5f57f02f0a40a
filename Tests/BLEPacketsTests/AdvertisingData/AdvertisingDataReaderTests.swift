import Testing

@testable import BLEPackets

@Suite("Advertising data reader")
struct AdvertisingDataReaderTests {
    /// What a walk over the bytes delivered, and how it ended.
    struct Walk: Equatable {
        var structures: [[UInt8]] = []  // the type before the data
        var error: DecodingError?
        var hasNonZeroPadding = false
    }

    func walk(_ bytes: [UInt8]) -> Walk {
        var walk = Walk()
        var reader = AdvertisingDataReader(bytes.span.bytes)
        do throws(DecodingError) {
            while let structure = try reader.next() {
                walk.structures.append([structure.type.rawValue] + structure.data.copied())
            }
        } catch {
            walk.error = error
        }
        walk.hasNonZeroPadding = reader.hasNonZeroPadding
        return walk
    }

    @Test("structures come one after another, with type and data")
    func structures() {
        let bytes = octets("02 01 1A 03 03 07 C0 05 09 46 72 65 64")
        #expect(walk(bytes) == Walk(structures: [octets("01 1A"), octets("03 07 C0"), octets("09 46 72 65 64")]))
        #expect(walk([]) == Walk())
        #expect(walk([1, 9]) == Walk(structures: [[9]]))
    }

    @Test("a zero length ends the data; what follows ought to be zero, and the reader says when it is not")
    func padding() {
        #expect(walk(octets("02 01 06 00")) == Walk(structures: [[1, 6]]))
        #expect(walk(octets("02 01 06 00 00 00")) == Walk(structures: [[1, 6]]))
        #expect(walk(octets("02 01 06 00 02 0A 00")) == Walk(structures: [[1, 6]], hasNonZeroPadding: true))
        #expect(walk([0]) == Walk())
        #expect(walk([0, 1]) == Walk(hasNonZeroPadding: true))
    }

    @Test("a reader can continue after the zeros on request")
    func resume() throws {
        let bytes = octets("02 01 06 00 00 02 0A 05 00 00")
        var reader = AdvertisingDataReader(bytes.span.bytes)
        #expect(try reader.next()?.type == .flags)
        let isOver = try reader.next() == nil
        #expect(isOver)
        let goesOn = reader.resumeAfterPadding()
        #expect(goesOn)
        #expect(try reader.next()?.type == .txPowerLevel)
        let isOverAgain = try reader.next() == nil
        #expect(isOverAgain)
        let goesOnAgain = reader.resumeAfterPadding()
        #expect(!goesOnAgain)
    }

    @Test(
        "a structure that overruns the end is an error after the good ones were delivered",
        arguments: [
            ("01", [], 1, 0), ("FF 01", [], 255, 1), ("05 02 00 00 00", [], 5, 4),
            ("02 02 00 02 00", [octets("02 00")], 2, 1), ("02 02 00 01", [octets("02 00")], 1, 0),
        ] as [(String, [[UInt8]], Int, Int)])
    func overrun(hexadecimal: String, structures: [[UInt8]], needed: Int, remaining: Int) {
        let expected = Walk(structures: structures, error: .truncated(needed: needed, remaining: remaining))
        #expect(walk(octets(hexadecimal)) == expected)
    }

    @Test("after an error the reader is at its end: no loop over malformed bytes")
    func errorEnds() {
        let bytes = octets("05 02 00")
        var reader = AdvertisingDataReader(bytes.span.bytes)
        for turn in 0..<3 {
            do throws(DecodingError) {
                let isOver = try reader.next() == nil
                #expect(isOver && turn > 0)
            } catch {
                #expect(turn == 0)
            }
        }
        #expect(reader.remainder.copied() == bytes)
        let goesOn = reader.resumeAfterPadding()
        #expect(!goesOn)
    }

    @Test("every field of the Supplement is understood without copying it")
    func elements() throws {
        #expect(element("02 01 1A") == "flags 1A")
        #expect(element("01 01") == "flags 00")
        #expect(element("03 01 06 FF") == "flags 06")
        #expect(element("05 02 0D 18 0F 18") == "services 180D 180F incomplete")
        #expect(element("03 03 0D 18") == "services 180D complete")
        #expect(element("05 04 78 56 34 12") == "services 12345678 incomplete")
        #expect(element("05 05 0D 18 00 00") == "services 180D complete")
        let long = "E7 CD 06 B5 30 44 6F B1 C1 41 10 7E D1 3F DA 71"
        let name = "71DA3FD1-7E10-41C1-B16F-4430B506CDE7"
        #expect(element("11 06 " + long) == "services \(name) incomplete")
        #expect(element("11 07 " + long) == "services \(name) complete")
        #expect(element("01 03") == "services complete")
        #expect(element("03 08 41 42") == "name AB shortened")
        #expect(element("03 09 41 42") == "name AB complete")
        #expect(element("02 0A F4") == "power -12")
        #expect(element("05 12 06 00 80 0C") == "intervals 6 3200")
        #expect(element("03 14 0D 18") == "solicited 180D")
        #expect(element("11 15 " + long) == "solicited \(name)")
        #expect(element("05 1F 78 56 34 12") == "solicited 12345678")
        #expect(element("05 16 0D 18 01 02") == "service data 180D [1, 2]")
        #expect(element("03 16 0D 18") == "service data 180D []")
        #expect(element("06 20 78 56 34 12 09") == "service data 12345678 [9]")
        #expect(element("12 21 " + long + " 09") == "service data \(name) [9]")
        #expect(element("07 17 01 02 03 04 05 06") == "targets 06:05:04:03:02:01/public")
        #expect(element("07 18 01 02 03 04 05 06") == "targets 06:05:04:03:02:01/random")
        #expect(element("03 19 41 03") == "appearance 833")
        #expect(element("03 1A A0 00") == "interval 160")
        #expect(element("04 2F 01 02 03") == "interval \(0x03_0201)")
        #expect(element("05 2F 01 02 03 04") == "interval \(0x0403_0201)")
        #expect(element("08 1B 01 02 03 04 05 06 01") == "address 06:05:04:03:02:01/random")
        #expect(element("08 1B 01 02 03 04 05 06 00") == "address 06:05:04:03:02:01/public")
        #expect(element("02 1C 02") == "role 2")
        #expect(element("03 24 17 2F") == "uri [23, 47]")
        #expect(element("02 27 04") == "features [4]")
        #expect(element("03 30 41 42") == "broadcast [65, 66]")
        #expect(element("05 FF 4C 00 10 05") == "company 76 [16, 5]")
        #expect(element("03 FF 4C 00") == "company 76 []")
        #expect(element("03 7E 01 02") == "other 126 [1, 2]")
        #expect(element("01 00") == "other 0 []")
    }

    @Test(
        "data that is too short or too long for its type is an error of that structure alone",
        arguments: [
            "01 0A", "03 0A 00 80", "01 19", "02 19 01", "04 19 01 02 03", "04 12 06 00 80", "06 12 06 00 80 0C 00",
            "01 16", "02 16 01", "04 20 01 02 03", "10 21 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E", "01 FF",
            "02 FF 4C", "07 1B 01 02 03 04 05 06", "09 1B 01 02 03 04 05 06 00 00", "01 1C", "03 1C 00 00",
            "02 1A 00", "03 2F 00 00", "06 2F 00 00 00 00 00",
        ])
    func brokenElements(hexadecimal: String) { #expect(element(hexadecimal).hasPrefix("error")) }

    @Test("the whole UUIDs of a list come before the error of one that is cut off")
    func partialUUID() {
        #expect(element("04 02 11 22 33") == "services 2211 error")
        #expect(element("06 04 DE AD BE EF 99") == "services EFBEADDE error")
        #expect(element("02 03 34") == "services error")
        #expect(element("08 18 01 02 03 04 05 06 07") == "targets 06:05:04:03:02:01/random error")
    }

    @Test("random bytes never trap, and whatever is delivered lies inside them")
    func randomBytes() {
        var random = FixedSeedGenerator(seed: 5)
        for turn in 0..<30_000 {
            var bytes = random.octets(count: Int(random.next() % 64))
            if turn % 2 == 0 {  // short lengths and known types make deeper walks
                for index in bytes.indices where bytes[index] > 0x31 && bytes[index] < 0xF0 { bytes[index] &= 0x0F }
            }
            let walk = walk(bytes)
            #expect(walk.structures.reduce(0) { $0 + $1.count + 1 } <= bytes.count)
            for structure in walk.structures {
                _ = element([UInt8(truncatingIfNeeded: structure.count)] + structure)
            }
        }
    }

    private func element(_ hexadecimal: String) -> String { element(octets(hexadecimal)) }

    /// The element of a single structure in words.
    private func element(_ bytes: [UInt8]) -> String {
        var reader = AdvertisingDataReader(bytes.span.bytes)
        do throws(DecodingError) {
            guard let structure = try reader.next() else { return "nothing" }
            switch try structure.element() {
            case .flags(let flags):
                return "flags " + (flags.rawValue < 16 ? "0" : "")
                    + String(flags.rawValue, radix: 16, uppercase: true)
            case .serviceUUIDs(let list, let isComplete):
                let uuids = text(list)
                return "services" + uuids + (uuids.hasSuffix("error") ? "" : isComplete ? " complete" : " incomplete")
            case .solicitedServiceUUIDs(let list): return "solicited" + text(list)
            case .localName(let name, let isComplete):
                return "name " + String(decoding: name.copied(), as: UTF8.self)
                    + (isComplete ? " complete" : " shortened")
            case .txPowerLevel(let power): return "power \(power)"
            case .appearance(let value): return "appearance \(value)"
            case .manufacturerData(let company, let data): return "company \(company) \(data.copied())"
            case .serviceData(let uuid, let data): return "service data \(uuid) \(data.copied())"
            case .peripheralConnectionIntervalRange(let range): return "intervals \(range.minimum) \(range.maximum)"
            case .targetAddresses(var list):
                var text = "targets"
                do throws(DecodingError) {
                    while let address = try list.next() { text += " \(address)" }
                } catch {
                    text += " error"
                }
                return text
            case .deviceAddress(let address): return "address \(address)"
            case .role(let role): return "role \(role.rawValue)"
            case .advertisingInterval(let interval): return "interval \(interval)"
            case .uri(let data): return "uri \(data.copied())"
            case .leSupportedFeatures(let data): return "features \(data.copied())"
            case .broadcastName(let data): return "broadcast \(data.copied())"
            case .other(let type, let data): return "other \(type.rawValue) \(data.copied())"
            }
        } catch {
            return "error \(error)"
        }
    }

    private func text(_ list: consuming AdvertisedUUIDList) -> String {
        var text = ""
        do throws(DecodingError) {
            while let uuid = try list.next() { text += " \(uuid)" }
            let isOver = try list.next() == nil
            #expect(isOver)
        } catch {
            text += " error"
        }
        return text
    }

    @Test(
        "the shared vectors are well formed or not, as they say",
        .enabled(if: SharedVectors.has("ad_wellformedness.json"), "needs ad_wellformedness.json, see JELLING_VECTORS"))
    func sharedVectors() throws {
        struct File: Decodable {
            struct Vector: Decodable {
                var name: String
                var data: String
                var wellFormed: Bool?
            }
            struct Trimming: Decodable {
                struct Case: Decodable {
                    var `in`: String
                    var out: String
                }
                var cases: [Case]
            }
            struct ByType: Decodable {
                var data: String
                var type: UInt8
                var valueOffsetsLengths: [[Int]]
            }
            var vectors: [Vector]
            var aospTrimAdvertisingData: Trimming?
            var iterateByType: [ByType]?
        }
        let file = try SharedVectors.load("ad_wellformedness.json", as: File.self)
        #expect(!file.vectors.isEmpty)
        for vector in file.vectors {
            let walk = walk(octets(vector.data))
            if let wellFormed = vector.wellFormed { #expect((walk.error == nil) == wellFormed, "\(vector.name)") }
        }
        for trimming in file.aospTrimAdvertisingData?.cases ?? [] {
            #expect(withoutPadding(octets(trimming.in)) == octets(trimming.out))
        }
        for vector in file.iterateByType ?? [] {
            let bytes = octets(vector.data)
            let found = walk(bytes).structures.filter { $0[0] == vector.type }.map { Array($0.dropFirst()) }
            #expect(found == vector.valueOffsetsLengths.map { Array(bytes[$0[0]..<$0[0] + $0[1]]) })
        }
    }

    /// The structures one behind the other, over all zeros.
    private func withoutPadding(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var reader = AdvertisingDataReader(bytes.span.bytes)
        do throws(DecodingError) {
            repeat {
                while let structure = try reader.next() {
                    result += [UInt8(structure.data.byteCount + 1), structure.type.rawValue] + structure.data.copied()
                }
            } while reader.resumeAfterPadding()
        } catch {
            return result
        }
        return result
    }
}
