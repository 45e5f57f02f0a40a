/// The description of the interface over HTTP, OpenAPI 3.1.
public enum OpenAPIDocument {
    /// One JSON object.
    public static var text: String {
        let text = template.split(separator: "VERSION").joined(separator: gatewayVersion)
        return text.split(separator: "EVENTRULE").joined(separator: eventRule) + "\n"
    }

    private static let eventRule =
        "‘gatt’ events need the token of requests for GATT: without it they are left out, and asking for them by name is "
        + "refused with 401. Where reading needs another token, that of GATT shows them and nothing else."

    private static let template = #"""
        {
          "openapi": "3.1.0",
          "info": {
            "title": "jelling-gateway", "version": "VERSION",
            "summary": "What a gateway of Bluetooth LE hears, and what it does.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}
          },
          "servers": [{"url": "/"}], "security": [{}, {"token": []}],
          "paths": {
            "/health": {
              "get": {
                "operationId": "health", "summary": "Whether every part works.",
                "responses": {
                  "200": {
                    "description": "Every part works.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Health"}}}
                  },
                  "401": {"$ref": "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"},
                  "421": {"$ref": "#/components/responses/Misdirected"},
                  "503": {
                    "description": "A part does not work.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Health"}}}
                  }
                }
              }
            },
            "/metrics": {
              "get": {
                "operationId": "metrics", "summary": "Counters and decoded values for Prometheus.",
                "responses": {
                  "200": {
                    "description": "Text format 0.0.4.", "content": {"text/plain": {"schema": {"type": "string"}}}
                  },
                  "401": {"$ref": "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"},
                  "421": {"$ref": "#/components/responses/Misdirected"},
                  "503": {"$ref": "#/components/responses/Unavailable"}
                }
              }
            },
            "/api": {
              "get": {
                "operationId": "description", "summary": "This description.",
                "responses": {
                  "200": {
                    "description": "OpenAPI 3.1.", "content": {"application/json": {"schema": {"type": "object"}}}
                  },
                  "401": {"$ref": "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"},
                  "421": {"$ref": "#/components/responses/Misdirected"},
                  "503": {"$ref": "#/components/responses/Unavailable"}
                }
              }
            },
            "/api/devices": {
              "get": {
                "operationId": "devices", "summary": "The devices, page by page.",
                "parameters": [
                  {"$ref": "#/components/parameters/after"}, {"$ref": "#/components/parameters/limit"}
                ],
                "responses": {
                  "200": {
                    "description": "Devices that the filter lets pass.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Devices"}}}
                  },
                  "401": {"$ref": "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"},
                  "421": {"$ref": "#/components/responses/Misdirected"},
                  "503": {"$ref": "#/components/responses/Unavailable"},
                  "400": {"$ref": "#/components/responses/BadRequest"}
                }
              }
            },
            "/api/devices/{address}": {
              "get": {
                "operationId": "device", "summary": "One device.",
                "parameters": [{"$ref": "#/components/parameters/address"}],
                "responses": {
                  "200": {
                    "description": "The device.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Device"}}}
                  },
                  "401": {"$ref": "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"},
                  "421": {"$ref": "#/components/responses/Misdirected"},
                  "503": {"$ref": "#/components/responses/Unavailable"},
                  "404": {"$ref": "#/components/responses/NotFound"}
                }
              }
            },
            "/api/adapters": {
              "get": {
                "operationId": "adapters", "summary": "The adapters and their health.",
                "responses": {
                  "200": {
                    "description": "The adapters.",
                    "content": {
                      "application/json": {
                        "schema": {
                          "type": "object", "required": ["adapters"],
                          "properties": {
                            "adapters": {"type": "array", "items": {"$ref": "#/components/schemas/Adapter"}}
                          }
                        }
                      }
                    }
                  },
                  "401": {"$ref": "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"},
                  "421": {"$ref": "#/components/responses/Misdirected"},
                  "503": {"$ref": "#/components/responses/Unavailable"}
                }
              }
            },
            "/api/queue": {
              "get": {
                "operationId": "queue", "summary": "The queue and the session with the broker.",
                "responses": {
                  "200": {
                    "description": "The queue.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Queue"}}}
                  },
                  "401": {"$ref": "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"},
                  "421": {"$ref": "#/components/responses/Misdirected"},
                  "503": {"$ref": "#/components/responses/Unavailable"}
                }
              }
            },
            "/api/sessions": {
              "get": {
                "operationId": "sessions", "summary": "The links that the gateway has, and for whom.",
                "responses": {
                  "200": {
                    "description": "Links and places for links.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Sessions"}}}
                  },
                  "401": {"$ref": "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"},
                  "421": {"$ref": "#/components/responses/Misdirected"},
                  "503": {"$ref": "#/components/responses/Unavailable"}
                }
              }
            },
            "/api/settings": {
              "get": {
                "operationId": "settings", "summary": "The settings in force, without secrets.",
                "responses": {
                  "200": {
                    "description": "As in the settings file.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Settings"}}}
                  },
                  "401": {"$ref": "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"},
                  "421": {"$ref": "#/components/responses/Misdirected"},
                  "503": {"$ref": "#/components/responses/Unavailable"}
                }
              }
            },
            "/events": {
              "get": {
                "operationId": "events",
                "summary": "Events as they happen; ‘missed’ says that some are no longer kept.",
                "description": "EVENTRULE",
                "security": [{}, {"token": []}, {"gattToken": []}],
                "parameters": [
                  {"$ref": "#/components/parameters/event"}, {"$ref": "#/components/parameters/device"},
                  {"$ref": "#/components/parameters/lastEventID"}
                ],
                "responses": {
                  "200": {
                    "description": "id, event and data of each.",
                    "content": {"text/event-stream": {"schema": {"type": "string"}}}
                  },
                  "401": {"$ref": "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"},
                  "421": {"$ref": "#/components/responses/Misdirected"},
                  "503": {"$ref": "#/components/responses/Unavailable"},
                  "400": {"$ref": "#/components/responses/BadRequest"},
                  "429": {"$ref": "#/components/responses/TooMany"}
                }
              }
            },
            "/ws": {
              "get": {
                "operationId": "webSocket", "summary": "The same by WebSocket: texts with id, event and data.",
                "description": "EVENTRULE",
                "security": [{}, {"token": []}, {"gattToken": []}],
                "parameters": [
                  {"$ref": "#/components/parameters/event"}, {"$ref": "#/components/parameters/device"},
                  {"$ref": "#/components/parameters/lastEventID"}
                ],
                "responses": {
                  "101": {"description": "The connection goes on with WebSocket."},
                  "400": {"$ref": "#/components/responses/BadRequest"},
                  "401": {"$ref": "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"},
                  "421": {"$ref": "#/components/responses/Misdirected"},
                  "503": {"$ref": "#/components/responses/Unavailable"},
                  "429": {"$ref": "#/components/responses/TooMany"},
                  "426": {"description": "The request is none for WebSocket, version 13."}
                }
              }
            },
            "/live": {
              "get": {
                "operationId": "live", "summary": "The live page; it needs no token, and asks for it.",
                "responses": {
                  "200": {"description": "One file.", "content": {"text/html": {"schema": {"type": "string"}}}},
                  "401": {"$ref": "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"},
                  "421": {"$ref": "#/components/responses/Misdirected"},
                  "503": {"$ref": "#/components/responses/Unavailable"}
                }
              }
            },
            "/api/gatt": {
              "post": {
                "operationId": "gatt", "summary": "Steps over a link with a device; needs the setting ‘gatt’.",
                "security": [{"gattToken": []}],
                "requestBody": {
                  "required": true,
                  "content": {"application/json": {"schema": {"$ref": "#/components/schemas/GATTRequest"}}}
                },
                "responses": {
                  "200": {
                    "description": "A line for each step, and a last one with ‘done’.",
                    "content": {"application/x-ndjson": {"schema": {"$ref": "#/components/schemas/GATTAnswer"}}}
                  },
                  "400": {
                    "description": "The request has a mistake.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/GATTAnswer"}}}
                  },
                  "401": {"$ref": "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"},
                  "421": {"$ref": "#/components/responses/Misdirected"},
                  "503": {"$ref": "#/components/responses/Unavailable"},
                  "411": {"description": "The body is missing."},
                  "413": {"description": "The body is longer than 64 kB, or in chunks."},
                  "415": {"description": "The body is not application/json."},
                  "429": {"$ref": "#/components/responses/TooMany"}
                }
              }
            }
          },
          "components": {
            "securitySchemes": {
              "token": {"type": "http", "scheme": "bearer", "description": "That of ‘http.tokenFile’."},
              "gattToken": {
                "type": "http", "scheme": "bearer",
                "description": "That of ‘gatt.tokenFile’, otherwise that of ‘http.tokenFile’."
              }
            },
            "parameters": {
              "event": {
                "name": "event", "in": "query", "required": false,
                "description": "Only these kinds of events; ‘gatt’ needs the token of requests for GATT.",
                "schema": {
                  "type": "array", "items": {"type": "string", "enum": ["device", "adapter", "queue", "gatt"]}
                },
                "style": "form", "explode": false
              },
              "device": {
                "name": "device", "in": "query", "required": false,
                "description": "Only events of these devices, and those of none.",
                "schema": {"type": "array", "items": {"type": "string"}}, "style": "form", "explode": false
              },
              "lastEventID": {
                "name": "lastEventID", "in": "query", "required": false,
                "description": "The stream goes on behind this event, as with Last-Event-ID.",
                "schema": {"type": "string"}
              },
              "after": {
                "name": "after", "in": "query", "required": false, "description": "‘next’ of the answer before.",
                "schema": {"type": "integer", "minimum": -1, "default": -1}
              },
              "limit": {
                "name": "limit", "in": "query", "required": false, "description": "The most devices in the answer.",
                "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 1000}
              },
              "address": {
                "name": "address", "in": "path", "required": true,
                "description": "The address of the device, or its key ‘device’.", "schema": {"type": "string"}
              }
            },
            "responses": {
              "BadRequest": {"description": "The request has a mistake."},
              "Unauthorized": {"description": "The token is missing or another one."},
              "Forbidden": {"description": "A page of another site asks."},
              "NotFound": {"description": "There is no such device."},
              "Misdirected": {"description": "The host is none of the names of this server."},
              "TooMany": {"description": "There are too many streams or requests."},
              "Unavailable": {"description": "The token cannot be read, or there are too many connections."}
            },
            "schemas": {
              "Device": {
                "type": "object", "required": ["device", "address", "addressType", "values"],
                "properties": {
                  "device": {
                    "description": "Its key: address or name of its identity, or its address.", "type": "string"
                  },
                  "time": {"type": "string", "format": "date-time"}, "gateway": {"type": "string"},
                  "adapter": {"type": "string"}, "address": {"type": "string"},
                  "addressType": {"type": "string", "enum": ["public", "random"]}, "identity": {"type": "object"},
                  "name": {"type": "string"}, "location": {"type": "string"}, "present": {"type": "boolean"},
                  "rssi": {"type": "integer"}, "rssiSmoothed": {"type": "number"},
                  "adapters": {"type": "object", "additionalProperties": {"type": "number"}},
                  "connectable": {"type": "boolean"}, "txPower": {"type": "integer"},
                  "appearance": {"type": "string"}, "companies": {"type": "array", "items": {"type": "object"}},
                  "services": {"type": "array", "items": {"type": "object"}},
                  "formats": {"type": "array", "items": {"type": "object"}},
                  "values": {"type": "object", "description": "Decoded values by their names."},
                  "units": {"type": "object", "additionalProperties": {"type": "string"}},
                  "advertisement": {"type": "string", "description": "Hexadecimal."},
                  "scanResponse": {"type": "string"}, "sequence": {"type": "integer"}
                }
              },
              "Devices": {
                "type": "object", "required": ["devices"],
                "properties": {
                  "devices": {"type": "array", "items": {"$ref": "#/components/schemas/Device"}},
                  "next": {"type": "integer", "description": "There are more: give it as ‘after’."}
                }
              },
              "Adapter": {
                "type": "object", "required": ["transport", "state"],
                "properties": {
                  "transport": {"type": "string"},
                  "state": {"type": "string", "enum": ["opening", "scanning", "waiting"]},
                  "problem": {"type": "string"}, "openings": {"type": "integer"}, "failures": {"type": "integer"},
                  "silences": {"type": "integer"}, "reports": {"type": "integer"}, "dropped": {"type": "integer"}
                }
              },
              "Queue": {
                "type": "object",
                "properties": {
                  "connected": {"type": "boolean"}, "problem": {"type": "string"}, "messages": {"type": "integer"},
                  "unwritten": {"type": "integer"}, "onTheWay": {"type": "integer"}, "sent": {"type": "integer"},
                  "acknowledged": {"type": "integer"}, "dropped": {"type": "integer"}
                }
              },
              "Health": {
                "type": "object", "required": ["status", "gateway", "adapters"],
                "properties": {
                  "status": {"type": "string", "enum": ["ok", "failing"]}, "gateway": {"type": "string"},
                  "adapters": {"type": "array", "items": {"$ref": "#/components/schemas/Adapter"}},
                  "broker": {"type": "object"}, "queue": {"type": "object"}, "http": {"type": "object"},
                  "needRestart": {"$ref": "#/components/schemas/NeedRestart"}
                }
              },
              "NeedRestart": {
                "description": "Keys of the settings that have changed, and are not in force before a restart.",
                "type": "array", "items": {"type": "string"}
              },
              "Settings": {
                "type": "object", "required": ["name", "adapters", "queue", "publish"],
                "properties": {
                  "name": {"type": "string"}, "adapters": {"type": "array", "items": {"type": "object"}},
                  "mqtt": {"type": "object"}, "queue": {"type": "object"}, "publish": {"type": "object"},
                  "http": {"type": "object"},
                  "esphome": {
                    "type": "object", "required": ["listen", "key", "slots"],
                    "properties": {
                      "listen": {"type": "array", "items": {"type": "string"}},
                      "key": {"description": "Whether there is one.", "type": "boolean"},
                      "slots": {"type": "integer"}, "name": {"type": "string"}, "pairing": {"type": "boolean"},
                      "advertise": {"type": "string"}
                    }
                  },
                  "matter": {
                    "type": "object", "required": ["url", "token"],
                    "properties": {
                      "url": {"type": "string"}, "token": {"description": "Whether there is one.", "type": "boolean"}
                    }
                  },
                  "gatt": {
                    "type": "object", "required": ["mqtt", "http", "token", "sessions"],
                    "properties": {
                      "mqtt": {"type": "boolean"}, "http": {"type": "boolean"},
                      "token": {"description": "Whether it has one of its own.", "type": "boolean"},
                      "sessions": {"type": "integer"}
                    }
                  },
                  "needRestart": {"$ref": "#/components/schemas/NeedRestart"}
                }
              },
              "Sessions": {
                "type": "object", "required": ["slots", "free", "sessions"],
                "properties": {
                  "slots": {"type": "integer"}, "free": {"type": "integer"},
                  "sessions": {
                    "type": "array",
                    "items": {
                      "type": "object", "required": ["address", "state"],
                      "properties": {
                        "address": {"type": "string"}, "state": {"type": "string"}, "requester": {"type": "string"},
                        "adapter": {"type": "string"}
                      }
                    }
                  }
                }
              },
              "GATTRequest": {
                "type": "object", "required": ["address", "steps"],
                "properties": {
                  "id": {
                    "description": "One that was seen before is not carried out again.", "type": "string",
                    "pattern": "^[A-Za-z0-9._-]{1,64}$"
                  },
                  "address": {"type": "string"},
                  "addressType": {"type": "string", "enum": ["public", "random"], "default": "public"},
                  "steps": {
                    "type": "array", "minItems": 1, "maxItems": 256,
                    "items": {
                      "oneOf": [
                        {"type": "string", "description": "A line of a script, or ‘connect’ or ‘disconnect’."},
                        {"type": "object", "description": "The same in parts, such as {\"read\": \"2A19\"}."}
                      ]
                    }
                  },
                  "keep": {
                    "description": "How long the link is kept for the next request, in seconds.", "type": "number",
                    "minimum": 0, "maximum": 3600, "default": 0
                  },
                  "timeout": {
                    "description": "The time for all steps, in seconds.", "type": "number", "minimum": 1,
                    "maximum": 300, "default": 30
                  }
                }
              },
              "GATTAnswer": {
                "type": "object",
                "properties": {
                  "id": {"type": "string"}, "step": {"type": "integer"}, "ok": {"type": "boolean"},
                  "event": {"type": "string"},
                  "error": {
                    "type": "object", "required": ["name", "text"],
                    "properties": {
                      "name": {"type": "string"}, "code": {"type": "integer"}, "text": {"type": "string"}
                    }
                  },
                  "done": {"type": "boolean"}
                }
              }
            }
          }
        }
        """#
}
