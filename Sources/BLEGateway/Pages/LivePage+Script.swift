extension LivePage {
    static let script = #"""
        "use strict";
        const $ = id => document.getElementById(id), list = $("list"), devices = new Map(), adapters = new Map();
        const LENGTH = 90, SILENT = 60_000, FORGOTTEN = 3_600_000, COUNTERS = ["packet id", "sequence", "advertising count"];
        let queue = {}, sessions = null, order = [], selected = null, isDirty = true, lastEvent = null, rows = [], health = {};
        const tokens = {read: sessionStorage.token || "", gatt: sessionStorage.gattToken || ""};

        // What devices say is text, never markup.
        function make(kind, text, name) {
          const element = document.createElement(kind);
          if (text !== undefined) element.textContent = text;
          if (name) element.className = name;
          return element;
        }

        // MARK: Requests

        function ask(kind, why) {
          $("why").textContent = why;
          $("token").value = "";
          if (!$("ask").open) $("ask").showModal();
          return new Promise(done => $("ask").addEventListener("close", () => {
            tokens[kind] = $("token").value.trim();
            sessionStorage[kind === "read" ? "token" : "gattToken"] = tokens[kind];
            done();
          }, {once: true}));
        }

        async function request(path, kind = "read", options = {}) {
          for (;;) {
            const headers = {...options.headers};
            if (tokens[kind]) headers.Authorization = "Bearer " + tokens[kind];
            const answer = await fetch(path, {...options, headers, cache: "no-store"});
            if (answer.status !== 401) return answer;
            await ask(kind, kind === "read" ? "This gateway needs a token:" : "Requests for GATT need a token:");
          }
        }

        const object = async path => (await request(path)).json();

        async function load() {
          health = await object("/health");
          $("title").textContent = health.gateway;
          document.title = health.gateway + " – jelling-gateway";
          for (const adapter of (await object("/api/adapters")).adapters) adapters.set(adapter.transport, adapter);
          queue = await object("/api/queue");
          const known = new Set();
          for (let after = -1; after !== undefined;) {
            const page = await object("/api/devices?after=" + after);
            for (const device of page.devices) { known.add(device.device); update(device); }
            after = page.next;
          }
          for (const key of devices.keys()) if (!known.has(key)) devices.delete(key);
          isDirty = true;
        }

        // Not EventSource, which cannot send a token.
        async function listen() {
          const headers = lastEvent ? {"Last-Event-ID": lastEvent} : {};
          const answer = await request("/events", "read", {headers});
          if (!answer.ok) throw new Error("the gateway answers " + answer.status);
          say("live", "good");
          const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
          for (let rest = "";;) {
            const {value, done} = await reader.read();
            if (done) throw new Error("the connection ended");
            rest += value;
            const parts = rest.split("\n\n");
            rest = parts.pop();
            for (const part of parts) take(part);
          }
        }

        function take(text) {
          const event = {};
          for (const line of text.split("\n")) {
            const colon = line.indexOf(": ");
            if (colon > 0) event[line.slice(0, colon)] = line.slice(colon + 2);
          }
          if (event.id) lastEvent = event.id;
          if (!event.data) return;
          const data = JSON.parse(event.data);
          if (event.event === "device") update(data);
          else if (event.event === "adapter") adapters.set(data.transport, data);
          else if (event.event === "queue") queue = data;
          else if (event.event === "missed") load().catch(() => {});
          isDirty = true;
        }

        function update(data) {
          if (data.gone) return devices.delete(data.device);
          let device = devices.get(data.device);
          if (!device) devices.set(data.device, device = {key: data.device, history: [], document: {}, text: ""});
          device.heard = Date.parse(data.time);
          device.document = data.values ? data : {...device.document, ...data};
          if (data.rssi !== undefined) {
            device.history.push([device.heard, data.rssiSmoothed]);
            if (device.history.length > LENGTH) device.history.shift();
          }
          if (data.values) {
            device.name = data.name || data.identity?.name || "";
            device.values = valueTexts(data).filter(([name]) => !COUNTERS.includes(name)).map(pair => pair.join(" ")).join(" · ");
            device.text = [device.name, device.key, data.address, data.location, device.values, ...names(data)].join("\n").toLowerCase();
          }
        }

        const names = data => [...(data.companies || []), ...(data.services || []), ...(data.formats || [])]
          .map(item => item.name || item.uuid || item.id || item.format);

        function valueTexts(data) {
          return Object.entries(data.values || {}).map(([name, value]) => {
            const shown = value === null ? "–" : typeof value === "boolean" ? (value ? "yes" : "no")
              : typeof value === "number" ? String(Math.round(value * 1000) / 1000) : Array.isArray(value) ? value.join(", ") : value;
            return [name.replaceAll("_", " "), shown + (data.units?.[name] ? " " + data.units[name] : "")];
          });
        }

        // MARK: The list

        function sort() {
          const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean), by = $("order").value;
          const now = Date.now();
          order = [];
          for (const device of devices.values()) {
            if (now - device.heard > FORGOTTEN) devices.delete(device.key);
            else if (words.every(word => device.text.includes(word))) order.push(device);
          }
          const signal = device => device.document.rssiSmoothed ?? -999;
          const compare = new Intl.Collator(undefined, {numeric: true}).compare;
          const byName = (a, b) => (a.name ? 0 : 1) - (b.name ? 0 : 1) || compare(a.name || a.key, b.name || b.key) || compare(a.key, b.key);
          order.sort(by === "signal" ? (a, b) => signal(b) - signal(a) || byName(a, b)
            : by === "seen" ? (a, b) => b.heard - a.heard || byName(a, b) : byName);
          const shown = order.length === devices.size ? "" : " of " + devices.size;
          const count = order.length + shown + (devices.size === 1 ? " device" : " devices");
          if ($("count").textContent !== count) $("count").textContent = count;
          $("empty").hidden = order.length > 0;
          $("empty").textContent = devices.size ? "No device has this." : "No device was heard yet.";
        }

        const rowHeight = () => parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"));

        function makeRow() {
          const row = make("div", undefined, "row"), signal = make("div", undefined, "signal");
          row.setAttribute("role", "option");
          row.canvas = signal.appendChild(make("canvas"));
          row.strength = signal.appendChild(make("span"));
          const name = make("div", undefined, "name");
          row.name = name.appendChild(make("div"));
          row.below = name.appendChild(make("div", undefined, "faint"));
          row.values = make("div", undefined, "values");
          row.seen = make("div", undefined, "seen faint");
          row.append(signal, name, row.values, row.seen);
          row.addEventListener("click", () => open(row.device));
          return list.appendChild(row);
        }

        // Only rows in sight exist.
        function draw() {
          const height = rowHeight(), first = Math.max(0, Math.floor(list.scrollTop / height) - 2);
          const count = Math.min(order.length - first, Math.ceil(list.clientHeight / height) + 4);
          $("height").style.height = order.length * height + "px";
          while (rows.length < count) rows.push(makeRow());
          while (rows.length > Math.max(count, 0)) rows.pop().remove();
          const now = Date.now();
          rows.forEach((row, index) => {
            const device = row.device = order[first + index], document = device.document;
            row.id = "row" + (first + index);
            row.style.transform = `translateY(${(first + index) * height}px)`;
            row.classList.toggle("silent", now - device.heard > SILENT);
            row.setAttribute("aria-selected", device.key === selected);
            set(row.strength, document.rssi === undefined ? "" : Math.round(document.rssiSmoothed) + " dBm");
            set(row.name, device.name || device.key);
            const presence = document.present === undefined ? "" : document.present ? "home" : "away";
            set(row.below, [device.name && device.key, document.location, presence].filter(Boolean).join(" · "));
            set(row.values, device.values || names(document).filter(Boolean).join(" · "));
            set(row.seen, ago(now - device.heard));
            spark(row.canvas, device, false);
          });
          list.setAttribute("aria-activedescendant", rows.find(row => row.device.key === selected)?.id || "");
        }

        function set(element, text) { if (element.textContent !== text) element.textContent = text; }

        function ago(milliseconds) {
          const seconds = Math.max(0, Math.round(milliseconds / 1000));
          return seconds < 3 ? "now" : seconds < 60 ? seconds + " s" : seconds < 3600 ? Math.floor(seconds / 60) + " min" : "> 1 h";
        }

        // The last 90 seconds, from -100 to -30 dBm.
        function spark(canvas, device, hasScale) {
          const scale = devicePixelRatio, width = canvas.clientWidth, height = canvas.clientHeight;
          if (canvas.width !== width * scale) { canvas.width = width * scale; canvas.height = height * scale; }
          const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), now = Date.now();
          context.setTransform(scale, 0, 0, scale, 0, 0);
          context.clearRect(0, 0, width, height);
          const x = time => width - 3 - (now - time) / 90_000 * (width - 6);
          const y = strength => (-30 - Math.max(-100, Math.min(-30, strength))) / 70 * (height - 6) + 3;
          if (hasScale) {
            context.fillStyle = style.getPropertyValue("--faint");
            context.strokeStyle = style.getPropertyValue("--line");
            context.font = "11px system-ui";
            for (const line of [-40, -60, -80]) {
              context.beginPath(); context.moveTo(0, y(line)); context.lineTo(width, y(line)); context.stroke();
              context.fillText(line + " dBm", 2, y(line) - 2);
            }
          }
          const points = device.history.filter(([time]) => now - time < 90_000);
          if (!points.length) return;
          context.strokeStyle = context.fillStyle = style.getPropertyValue("--mark");
          context.lineWidth = 1.5;
          context.beginPath();
          points.forEach(([time, strength], index) => index ? context.lineTo(x(time), y(strength)) : context.moveTo(x(time), y(strength)));
          context.stroke();
          const [time, strength] = points[points.length - 1];
          context.beginPath(); context.arc(x(time), y(strength), 2, 0, 7); context.fill();
        }

        // MARK: Parts

        function card(name, lines) {
          const element = make("div", undefined, "card");
          element.append(make("b", name), ...lines.filter(Boolean).map(([text, kind]) => make("span", text, kind)));
          return element;
        }

        function drawParts() {
          const cards = [...adapters.values()].map(adapter => card(adapter.transport, [
            [adapter.state, adapter.state === "scanning" ? "good" : "bad"], [adapter.reports.toLocaleString() + " packets"],
            adapter.problem && [adapter.problem, "bad"]]));
          if (queue.connected !== undefined) cards.push(card("Broker", [
            [queue.connected ? "connected" : "not connected", queue.connected ? "good" : "bad"],
            [`${queue.messages + queue.unwritten} waiting, ${queue.acknowledged.toLocaleString()} delivered`],
            queue.problem && [queue.problem, "bad"]]));
          if (sessions) cards.push(card("Links", [[sessions.slots ? `${sessions.free} of ${sessions.slots} free` : "off"],
            ...sessions.sessions.map(one => [`${one.address} ${one.state}`])]));
          if (health.needRestart) cards.push(card("Settings", [["need a restart: " + health.needRestart.join(", "), "bad"]]));
          $("parts").replaceChildren(...cards);
        }

        function say(text, kind) { $("state").textContent = text; $("state").className = kind; }

        // MARK: Details

        function open(device) {
          selected = device.key;
          $("details").hidden = false;
          $("details").replaceChildren();
          drawDetails();
          draw();
        }

        function close() {
          $("details").hidden = true;
          selected = null;
          list.focus();
          draw();
        }

        function table(pairs) {
          const element = make("dl");
          for (const [name, value, kind] of pairs) if (value) element.append(make("dt", name), make("dd", value, kind));
          return element;
        }

        function drawDetails() {
          const device = devices.get(selected), details = $("details");
          if (!device || details.hidden) return;
          if (!details.firstChild) {
            const top = make("div", undefined, "top"), title = make("h1"), end = make("button", "×");
            end.setAttribute("aria-label", "Close");
            end.addEventListener("click", close);
            top.append(title, make("span", undefined, "space"), end);
            const services = make("button", "Connect and list services");
            services.addEventListener("click", () => discover(devices.get(selected), details.tree, services));
            details.heading = title;
            details.canvas = make("canvas");
            details.parts = make("div");
            details.tree = make("div");
            details.append(top, details.canvas, details.parts, make("h2", "GATT"), services, details.tree);
            if (device.tree) showTree(device, details.tree);
          }
          const data = device.document;
          details.heading.textContent = device.name || device.key;
          spark(details.canvas, device, true);
          const parts = make("div");
          parts.append(table(valueTexts(data)), make("h2", "Device"), table([
            ["address", `${data.address} ${data.addressType}`], ["identity", data.identity && (data.identity.name || data.identity.address)],
            ["location", data.location], ["presence", data.present === undefined ? "" : data.present ? "home" : "away"],
            ["signal", data.rssi === undefined ? "" : `${data.rssi} dBm, smoothed ${data.rssiSmoothed} dBm`],
            ["adapters", Object.entries(data.adapters || {[data.adapter]: data.rssiSmoothed}).map(([name, strength]) => `${name} ${strength}`)
              .join(", ")],
            ["last heard", new Date(device.heard).toLocaleTimeString()], ["connectable", data.connectable ? "yes" : "no"],
            ["companies", (data.companies || []).map(one => one.name || one.id).join(", ")],
            ["services", (data.services || []).map(one => one.name || one.uuid).join(", ")],
            ["formats", (data.formats || []).map(one => `${one.format}${one.model ? " " + one.model : ""}, ${one.encryption}`).join("; ")],
            ["advertisement", data.advertisement, "octets"], ["scan response", data.scanResponse, "octets"]]));
          details.parts.replaceChildren(parts);
        }

        async function discover(device, place, button) {
          button.disabled = true;
          place.replaceChildren(make("p", "connecting …", "faint"));
          try {
            const body = JSON.stringify({address: device.document.address, addressType: device.document.addressType,
              steps: ["connect", "discover", "disconnect"]});
            const answer = await request("/api/gatt", "gatt", {method: "POST", headers: {"Content-Type": "application/json"}, body});
            if (answer.status === 404) throw new Error("Requests for GATT are off; the setting ‘gatt’ turns them on.");
            const lines = (await answer.text()).split("\n").filter(Boolean).map(line => JSON.parse(line));
            const failure = lines.find(line => line.error);
            if (failure) throw new Error(failure.error.text);
            device.tree = lines.find(line => line.services)?.services;
            showTree(device, place);
          } catch (error) {
            place.replaceChildren(make("p", error.message, "bad"));
          }
          button.disabled = false;
        }

        function showTree(device, place) {
          const named = one => (one.name ? one.name + " " : "") + one.uuid;
          const branch = (items, text, inner) => {
            const element = make("ul");
            for (const item of items || []) {
              const entry = make("li", text(item));
              if (inner) entry.append(inner(item));
              element.append(entry);
            }
            return element;
          };
          place.replaceChildren(branch(device.tree, named, service => branch(service.characteristics,
            one => `${named(one)} · ${one.properties.join(", ")}`, one => branch(one.descriptors, named))));
        }

        // MARK: Keyboard

        function move(step) {
          if (!order.length) return;
          const index = order.findIndex(device => device.key === selected);
          const next = Math.max(0, Math.min(order.length - 1, index < 0 ? step - 1 : index + step)), height = rowHeight();
          selected = order[next].key;
          if (next * height < list.scrollTop) list.scrollTop = next * height;
          if ((next + 1) * height > list.scrollTop + list.clientHeight) list.scrollTop = (next + 1) * height - list.clientHeight;
          if (!$("details").hidden) open(order[next]);
          draw();
        }

        list.addEventListener("keydown", event => {
          const page = Math.max(1, Math.floor(list.clientHeight / rowHeight()) - 1);
          const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -order.length, End: order.length};
          if (event.key in steps) move(steps[event.key]);
          else if (event.key === "Enter" && devices.has(selected)) open(devices.get(selected));
          else return;
          event.preventDefault();
        });
        addEventListener("keydown", event => {
          if ($("ask").open) return;
          if (event.key === "Escape" && !$("details").hidden) close();
          if (event.key === "/" && document.activeElement !== $("search")) { $("search").focus(); event.preventDefault(); }
        });
        list.addEventListener("scroll", () => requestAnimationFrame(draw), {passive: true});
        for (const [id, kind] of [["search", "input"], ["order", "change"]]) $(id).addEventListener(kind, () => { list.scrollTop = 0; sort(); draw(); });
        addEventListener("resize", draw);

        // MARK: Time

        function show() {
          if (!document.hidden && isDirty) {
            isDirty = false;
            sort(); draw(); drawParts(); drawDetails();
          }
        }
        setInterval(show, 500);
        setInterval(() => isDirty = true, 1000);
        setInterval(async () => {
          try { [sessions, health] = [await object("/api/sessions"), await object("/health")]; } catch {}
        }, 5000);

        (async () => {
          for (let pause = 1000;; pause = Math.min(pause * 2, 15_000)) {
            try {
              if (!lastEvent) await load();
              sessions ??= await object("/api/sessions");
              show();
              document.body.dataset.ready = "yes";
              const began = Date.now();
              await listen().catch(error => { if (Date.now() - began > 5000) pause = 500; throw error; });
            } catch (error) {
              say(error.message + "; trying again", "bad");
            }
            await new Promise(done => setTimeout(done, pause));
          }
        })();
        """#
}
