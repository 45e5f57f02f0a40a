import BLE
import BLEDecoder
import BLEJSON
import BLEScripts

/// The output of `info`: identity and capabilities of a controller.
struct ControllerOutput {
    let information: ControllerInformation
    /// `nil` if it is not known.
    let advertising: AdvertisingCapacity?
    /// What was learned about it; `nil` if only its daemon knows.
    let experience: ControllerExperience?

    init(
        _ information: ControllerInformation, advertising: AdvertisingCapacity? = nil,
        experience: ControllerExperience? = nil
    ) {
        self.information = information
        self.advertising = advertising
        self.experience = experience
    }

    private var address: DeviceAddress? { information.publicAddress ?? information.ownAddress }
    private var version: String {
        HCIVersion(rawValue: information.hciVersion).name ?? Hexadecimal.number(information.hciVersion, digits: 2)
    }

    /// The supported commands that an LE host may use.
    var commands: [String] {
        var reader = PacketReader(information.supportedCommands.span.bytes)
        guard let supported = try? SupportedCommands(decoding: &reader) else { return [] }
        return CommandNames.all.filter { supported.contains($0.opcode) }.map(\.name)
    }

    var json: JSONValue {
        [
            "event": "controller", "version": .string(version),
            "manufacturer": JSONValue(information.companyIdentifier),
            "address": JSONValue(address?.addressText),
            "addressType": JSONValue(address?.kindText),
            "features": JSONValue(FeatureNames.leFeatures(information.features.rawValue)),
            "commands": JSONValue(commands),
            "aclLength": JSONValue(information.aclDataLength),
            "aclCount": JSONValue(information.aclDataCount),
            "subversion": JSONValue(information.hciSubversion),
            "acceptListSize": JSONValue(information.filterAcceptListSize),
            "resolvingListSize": JSONValue(information.resolvingListSize),
            "advertisingSets": JSONValue(advertising?.sets),
            "advertisingDataLength": JSONValue(advertising?.dataLength),
            "family": JSONValue(information.family?.name),
            "traits": JSONValue(TraitTexts.names(of: information.traits)),
            "learned": experience.map { JSONValue(TraitTexts.names(of: $0.found)) } ?? .null,
            "refuted": experience.map { JSONValue(TraitTexts.names(of: $0.refuted)) } ?? .null,
        ]
    }

    var text: String {
        var lines = [
            "version        \(version) (subversion \(Hexadecimal.number(information.hciSubversion, digits: 4)))",
            "manufacturer   \(Hexadecimal.number(information.companyIdentifier, digits: 4))",
            "address        \(address.map { "\($0.addressText) \($0.kindText)" } ?? "none")",
            "ACL            \(information.aclDataCount) packets of \(information.aclDataLength) bytes",
            "accept list    \(information.filterAcceptListSize) devices",
            "resolving list \(information.resolvingListSize) devices",
        ]
        if let advertising { lines.append("advertising    \(advertising.text)") }
        if let family = information.family { lines.append("family         \(family.name)") }
        if !traits.isEmpty { lines += Self.list("known of it", traits) }
        lines += Self.list("features", FeatureNames.leFeatures(information.features.rawValue))
        lines += Self.list("commands", commands)
        return lines.joined(separator: "\n")
    }

    /// A sentence for each trait, with what was learned marked.
    private var traits: [String] {
        let found = experience?.found ?? []
        return TraitTexts.weaknesses(of: information.traits.subtracting(found))
            + TraitTexts.weaknesses(of: found).map { "\($0) (learned)" }
            + TraitTexts.texts(of: experience?.refuted ?? []).map { "not: \($0) (learned)" }
    }

    private static func list(_ title: String, _ names: [String]) -> [String] {
        names.isEmpty ? [title + " none"] : [title] + names.map { "  " + $0 }
    }
}
