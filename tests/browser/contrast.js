// Texts whose contrast against what is behind them is poorer than WCAG's AA asks for.
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      layers.push(rgba(getComputedStyle(e).backgroundColor));
    }
    return layers.reverse().reduce(
      (under, [r, g, b, a]) => [r, g, b].map((c, i) => (c * a + under[i] * (255 - a)) / 255),
      [255, 255, 255],
    );
  };
  const light = (rgb) => {
    const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility() || element.closest("svg, .sr")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(rgba(style.color)), light(behind(element))].sort((x, y) => y - x);
    const big = parseFloat(style.fontSize) >= 18.66;
    if ((a + 0.05) / (b + 0.05) < (big ? 3 : 4.5)) {
      poor.push(`${element.className || element.tagName}: ${text.slice(0, 30)}`);
    }
  }
  return [...new Set(poor)];
}
