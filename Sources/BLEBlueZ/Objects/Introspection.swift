/// The XML of `Introspect`.
enum Introspection {
    private static let doctype = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">

        """

    /// - Parameter children: the names of the nodes below.
    static func xml(of interfaces: [InterfaceDescription], children: [String]) -> String {
        var xml = doctype + "<node>\n"
        for interface in interfaces {
            xml += " <interface name=\"\(interface.name)\">\n"
            for method in interface.methods {
                xml += element("method", method.name, [("in", method.inputs), ("out", method.outputs)])
            }
            for signal in interface.signals { xml += element("signal", signal.name, [("", signal.inputs)]) }
            for property in interface.properties {
                let access = property.isWritable ? "readwrite" : "read"
                xml +=
                    "  <property name=\"\(property.name)\" type=\"\(property.signature)\" access=\"\(access)\"/>\n"
            }
            xml += " </interface>\n"
        }
        for child in children { xml += " <node name=\"\(child)\"/>\n" }
        return xml + "</node>\n"
    }

    private static func element(
        _ kind: String, _ name: String, _ arguments: [(direction: String, arguments: [InterfaceDescription.Argument])]
    ) -> String {
        var xml = "  <\(kind) name=\"\(name)\">\n"
        for (direction, arguments) in arguments {
            for argument in arguments {
                let attribute = direction.isEmpty ? "" : " direction=\"\(direction)\""
                xml += "   <arg name=\"\(argument.name)\" type=\"\(argument.signature)\"\(attribute)/>\n"
            }
        }
        return xml + "  </\(kind)>\n"
    }
}
