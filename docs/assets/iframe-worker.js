// Browsers start no Worker from a file, and the search runs in one. In pages that are opened as files, a hidden frame takes its place.
// The theme asks for it by this name.
if (location.protocol === "file:") {
  const importScripts = `async (...urls) => {
    for (const src of urls)
      await new Promise((loaded) => {
        const script = document.createElement("script");
        script.src = src;
        script.onload = loaded;
        document.body.append(script);
      });
  }`;

  window.IFrameWorker = class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((loaded) => (this.frame.onload = loaded));
      this.frame.srcdoc = `<body><script>
        postMessage = (data) => parent.postMessage(data, "*");
        importScripts = ${importScripts};
      </script><script src="${url}"></script></body>`;
      this.listener = (event) => {
        if (event.source !== this.frame.contentWindow) return;
        this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      };
      window.addEventListener("message", this.listener);
      document.body.append(this.frame);
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      window.removeEventListener("message", this.listener);
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
