// Fetches from the one host that its manifest names, once the operator has granted that.
import { defineExtension, fetch } from 'caldera/extension';
import { SERVICE } from './service.ts';

interface Forecast {
  readonly current?: { readonly temperature_2m?: number; readonly wind_speed_10m?: number };
}

export default defineExtension((api) => {
  api.registerTool({
    name: 'weather_now',
    description: 'Temperature and wind at a place.',
    parameters: {
      type: 'object',
      properties: { latitude: { type: 'number' }, longitude: { type: 'number' } },
      required: ['latitude', 'longitude'],
    },
    annotations: { readOnlyHint: true, openWorldHint: true },
    execute: async (_callId, params) => {
      const place = `latitude=${Number(params['latitude'])}&longitude=${Number(params['longitude'])}`;
      const answer = await fetch(`${SERVICE}/v1/forecast?${place}&current=temperature_2m,wind_speed_10m`);
      if (!answer.ok) throw new Error(`the weather service answered ${answer.status}`);
      const { current } = (await answer.json()) as Forecast;
      return `${current?.temperature_2m ?? '?'} °C, wind ${current?.wind_speed_10m ?? '?'} km/h`;
    },
  });
});
