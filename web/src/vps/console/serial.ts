import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { connect, type Open } from './viewer.ts';

/** The serial line: a terminal. */
export const open: Open = (place, url, told) => {
  const terminal = new Terminal({
    cursorBlink: true,
    fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "Noto Sans Mono", monospace',
    fontSize: 14,
    scrollback: 5_000,
    // What comes is written as text beside the drawn screen, for who listens to it.
    screenReaderMode: true,
    theme: { background: '#101418', foreground: '#e6e8eb' },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(place);
  fit.fit();
  const watch = new ResizeObserver(() => fit.fit());
  watch.observe(place);

  const { socket, end } = connect(url, told);
  socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
    terminal.write(new Uint8Array(data));
  });
  const typed = new TextEncoder();
  terminal.onData((text) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(typed.encode(text));
  });
  return {
    focus: () => terminal.focus(),
    type: (text) => terminal.paste(text),
    close: () => {
      watch.disconnect();
      end();
      terminal.dispose();
    },
  };
};
