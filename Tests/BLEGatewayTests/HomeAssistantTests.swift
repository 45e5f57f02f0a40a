import BLEGateway
import Testing

@Suite("Discovery for Home Assistant")
struct HomeAssistantTests {
    @Test("each value is announced once, before the first document, and again when Home Assistant starts")
    func announces() throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.homeAssistant = HomeAssistantSettings()
        var bench = Bench(configuration)
        let messages = try bench.hear("A4:C1:38:00:00:01", "0201060A16D2FC4002C40903BF13")
        #expect(messages.map(\.kind) == [.discovery, .discovery, .document])
        #expect(messages[0].isRetained)
        #expect(messages[0].topic == "homeassistant/sensor/jelling_g_a4c138000001/temperature/config")
        #expect(
            messages[0].text
                == #"{"name":"Temperature","unique_id":"jelling_g_a4c138000001_temperature","#
                + #""state_topic":"jelling/g/devices/A4:C1:38:00:00:01","#
                + #""value_template":"{% if 'temperature' in value_json['values'] %}"#
                + #"{{ value_json['values']['temperature'] }}{% endif %}","#
                + #""device_class":"temperature","unit_of_measurement":"°C","state_class":"measurement","#
                + #""expire_after":300,"availability_topic":"jelling/g/status","#
                + #""device":{"identifiers":["jelling_a4c138000001"],"name":"A4:C1:38:00:00:01","#
                + #""connections":[["bluetooth","A4:C1:38:00:00:01"]]},"#
                + #""origin":{"name":"jelling-gateway","sw_version":"0.1.0"}}"#)
        _ = bench.wait(2)
        #expect(try bench.hear("A4:C1:38:00:00:01", Bench.temperature(2000)).map(\.kind) == [.document])
        bench.gateway.announceAgain()
        #expect(
            try bench.hear("A4:C1:38:00:00:01", Bench.temperature(2000)).map(\.kind)
                == [.discovery, .discovery, .document])
    }

    @Test("devices that change their addresses are not announced")
    func privateAddresses() throws {
        var configuration = GatewayConfiguration(name: "g")
        configuration.homeAssistant = HomeAssistantSettings()
        var bench = Bench(configuration)
        #expect(try bench.hear("41:C1:38:00:00:01/random", Bench.temperature(2000)).map(\.kind) == [.document])
    }
}
